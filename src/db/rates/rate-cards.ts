/** Rows of rate cards. There are few, all in one shard: see the migration `rate_cards`. */
import { MAX_INTEGER, MAX_RATE_CARDS, MAX_VALID_FROM_AHEAD_MS } from '../../domain/basics/bounds.ts'
import { COMMON_SHARD } from '../../domain/basics/shard.ts'
import type { RateCard, RateList } from '../../domain/rates/rate-card.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import type { Database, Queryable, Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { LISTS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { cut, type Page, type Slice } from '../lists/pages.ts'

const SHARD = sqlInteger(COMMON_SHARD)

const COLUMNS = sql`id, version, line_count, name, is_default, archived_at, created_at, created_by, updated_at, updated_by`

function cardsOf(db: Queryable, condition: Sql, values: (number | string)[] = []): Promise<RateCard[]> {
  return db.query<RateCard>({
    text: sql`select ${COLUMNS} from rate_card where shard = ${SHARD} and ${condition}`,
    values,
  })
}

export async function findRateCard(db: Queryable, id: number): Promise<RateCard | undefined> {
  const [card] = await cardsOf(db, sql`id = $1`, [id])
  return card
}

export async function findDefaultCard(db: Queryable): Promise<RateCard | undefined> {
  const [card] = await cardsOf(db, sql`is_default`)
  return card
}

/** A page of cards, newest first. */
export function listRateCards(
  db: Database,
  { archived }: { archived?: 'true' | 'false' },
  { after = MAX_INTEGER, size }: Page<number>,
): Promise<Slice<RateCard, number>> {
  return db.transaction(async tx => {
    await tx.query({ text: LISTS })
    const state = archived === 'true' ? sql`is not null` : sql`is null`
    const page = sql`id < $1 and archived_at ${state} order by id desc limit $2`
    return cut(await cardsOf(tx, page, [after, size + 1]), size, ({ id }) => id)
  }, 'snapshot')
}

/** The numbers of plans and of users that have a card, users as their own. */
export interface CardUsers {
  plans: number
  users: number
}

/** Of plans those that someone has or can get. One table at a time: on a cluster, they lie on different nodes. */
export async function usersOfCard(db: Queryable, id: number): Promise<CardUsers> {
  const plans = await db.query<{ id: number; archived_at: EpochMs | null }>({
    text: sql`select id, archived_at from plan where shard = ${SHARD} and rate_card_id = $1`,
    values: [id],
  })
  const archived = plans.filter(({ archived_at }) => archived_at !== null)
  let count = plans.length - archived.length
  for (const plan of archived) {
    const text = sql`select from account where plan_id = $1 limit 1`
    count += (await db.query({ text, values: [plan.id] })).length
  }
  const [profiles] = await db.query<{ users: number }>({
    text: sql`select count(*) as users from user_profile where rate_card_id = $1`,
    values: [id],
  })
  return { plans: count, users: profiles?.users ?? 0 }
}

/* ── Changes ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Random, because a server that took over may lack a change, and the next one must not look like that one. */
const STATES = 2 ** 48

/** Lets one transaction at a time change cards. */
export async function lockRateCards(tx: Transaction): Promise<void> {
  await tx.query({ text: sql`select from pause_state where shard = ${SHARD} for update` })
}

/** Notes a change, so that all processes read the cards again. */
async function touch(tx: Transaction): Promise<void> {
  await tx.query({
    text: sql`update pause_state set rates = $1 where shard = ${SHARD}`,
    values: [1 + Math.floor(Math.random() * STATES)],
  })
}

/**
 * Whether a plan or a user can have a card, for it is not archived, and stays so until the end of the transaction. Then processes read the
 * cards again, and who has which.
 */
export async function holdRateCard(tx: Transaction, id: number | null): Promise<boolean> {
  await lockRateCards(tx)
  const found = await tx.query({
    text: sql`select from rate_card where shard = ${SHARD} and id = $1 and archived_at is null`,
    values: [id],
  })
  if (id !== null && found.length === 0) return false
  await touch(tx)
  return true
}

/** An id for a card to be made; undefined if there are as many as there may be. The cards are locked. */
export async function nextRateCardId(tx: Transaction): Promise<number | undefined> {
  const [row] = await tx.query<{ last: number; present: number }>({
    text: sql`select coalesce(max(id), 0) as last, count(*) filter (where archived_at is null) as present
           from rate_card where shard = ${SHARD}`,
  })
  return row === undefined || row.present >= MAX_RATE_CARDS ? undefined : row.last + 1
}

export async function writeRateCard(tx: Transaction, card: RateCard): Promise<void> {
  await touch(tx)
  const { id, version, line_count, name, is_default, archived_at, created_at, created_by, updated_at, updated_by } =
    card
  await tx.query({
    text: sql`insert into rate_card (shard, ${COLUMNS}) values (${SHARD}, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
           on conflict (shard, id) do update set version = excluded.version, line_count = excluded.line_count, name = excluded.name, is_default = excluded.is_default,
             archived_at = excluded.archived_at, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    values: [
      id,
      version,
      line_count,
      name,
      is_default,
      timestampParam(archived_at),
      timestampParam(created_at),
      created_by,
      timestampParam(updated_at),
      updated_by,
    ],
  })
}

/* ── Lists of prices ────────────────────────────────────────────────────────────────────────────────────────────── */

const LIST_COLUMNS = sql`version, valid_from, line_count, created_at, created_by`

/** The lists of a card, the last first. They are removed when they have not held for long, so there are some hundreds at most. */
export function listsOfCard(db: Queryable, cardId: number): Promise<RateList[]> {
  return db.query<RateList>({
    text: sql`select ${LIST_COLUMNS} from rate_list where shard = ${SHARD} and card_id = $1 order by version desc`,
    values: [cardId],
  })
}

/** The lines of a list as they are stored; undefined: there is no such list, or it was removed. */
export async function findLines(db: Queryable, cardId: number, version: number): Promise<string | undefined> {
  const [list] = await db.query<{ lines: string }>({
    text: sql`select lines from rate_list where shard = ${SHARD} and card_id = $1 and version = $2`,
    values: [cardId, version],
  })
  return list?.lines
}

/** How long a list is kept that does not hold any more. */
const LIST_KEPT_MS = 400 * DAY_MS

/** Adds a list, and removes those of the card that have not held for long. The cards are locked. */
export async function insertList(
  tx: Transaction,
  cardId: number,
  { version, valid_from, line_count, created_at, created_by }: RateList,
  lines: string,
): Promise<void> {
  await tx.query({
    text: sql`insert into rate_list (shard, card_id, version, valid_from, line_count, lines, created_at, created_by)
           values (${SHARD}, $1, $2, $3, $4, $5, $6, $7)`,
    values: [cardId, version, timestampParam(valid_from), line_count, lines, timestampParam(created_at), created_by],
  })
  // One that ceased to hold before `cutoff`: a later one, which is not of a clock that was ahead, had begun by then.
  await tx.query({
    text: sql`delete from rate_list l where l.shard = ${SHARD} and l.card_id = $1 and exists (
             select from rate_list m where m.shard = ${SHARD} and m.card_id = $1 and m.version > l.version
               and m.valid_from >= l.valid_from and m.valid_from <= $2)`,
    values: [cardId, timestampParam(created_at - LIST_KEPT_MS)],
  })
}

/** A list that holds, or will, as processes know it. */
export interface KnownList {
  card_id: number
  version: number
  valid_from: EpochMs
}

/** Clocks of processes differ, and so does the list that holds, by this time at most. */
const CLOCKS_DIFFER_MS = DAY_MS

/** The lists of all cards that are not archived, as far as they hold now or may later. */
export function knownLists(db: Queryable, now: EpochMs): Promise<KnownList[]> {
  return db.query<KnownList>({
    text: sql`select l.card_id, l.version, l.valid_from from rate_card c
           join rate_list l on l.shard = c.shard and l.card_id = c.id
           where c.shard = ${SHARD} and c.archived_at is null and not exists (
             select from rate_list m where m.shard = c.shard and m.card_id = c.id and m.version > l.version
               and m.valid_from >= l.valid_from and m.valid_from <= $1)
             and (l.valid_from > $1 or l.valid_from >= coalesce((
               select max(valid_from) from rate_list m where m.shard = c.shard and m.card_id = c.id and m.valid_from <= $1), l.valid_from))
           order by l.card_id, l.version`,
    values: [timestampParam(now - CLOCKS_DIFFER_MS)],
  })
}

/** How many lists of a card are to come. */
export async function countListsAhead(tx: Transaction, cardId: number, now: EpochMs): Promise<number> {
  const [row] = await tx.query<{ ahead: number }>({
    text: sql`select count(*) as ahead from rate_list
           where shard = ${SHARD} and card_id = $1 and valid_from > $2 and valid_from <= $3`,
    values: [cardId, timestampParam(now), timestampParam(now + MAX_VALID_FROM_AHEAD_MS)],
  })
  return row?.ahead ?? 0
}
