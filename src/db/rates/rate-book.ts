import { COMMON_SHARD } from '../../domain/basics/shard.ts'
import type { PreparedList, RateBook } from '../../domain/rates/rate-book.ts'
import { findIn } from '../../domain/rates/rate-line.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Queryable } from '../connection/database.ts'
import { sql, sqlInteger } from '../connection/sql.ts'
import { findDefaultCard, findLines, type KnownList, knownLists } from './rate-cards.ts'
import { linesIn } from './stored-lines.ts'

const SHARD = sqlInteger(COMMON_SHARD)

/** What processes know of rate cards, of one snapshot. A list never changes: those that `known` has are not read again. */
export function readRateBook(db: Database, known: RateBook, now: EpochMs): Promise<RateBook> {
  return db.transaction(async tx => {
    const lists = await knownLists(tx, now)
    const prepared = new Map<number, PreparedList[]>()
    for (const list of lists) {
      const ofCard = prepared.get(list.card_id) ?? []
      prepared.set(list.card_id, [...ofCard, await prepare(tx, list, known)])
    }
    const plans = await tx.query<{ id: number; rate_card_id: number; is_default: boolean }>({
      text: sql`select id, rate_card_id, is_default from plan where shard = ${SHARD} and rate_card_id is not null`,
    })
    const [users] = await tx.query({
      text: sql`select from user_profile where rate_card_id is not null order by rate_card_id limit 1`,
    })
    return {
      cards: prepared,
      defaultId: (await findDefaultCard(tx))?.id ?? null,
      ofPlans: new Map(plans.map(({ id, rate_card_id }) => [id, rate_card_id])),
      defaultPlanId: plans.find(({ is_default }) => is_default)?.id ?? null,
      isPersonal: plans.length > 0 || users !== undefined,
    }
  }, 'snapshot')
}

async function prepare(db: Queryable, { card_id, version, valid_from }: KnownList, known: RateBook) {
  const before = known.cards.get(card_id)?.find(list => list.version === version)
  if (before !== undefined) return before
  const lines = await findLines(db, card_id, version)
  return { version, valid_from, find: findIn(linesIn(lines ?? '')) }
}
