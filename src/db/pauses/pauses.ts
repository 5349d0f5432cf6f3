/** Rows of pauses, all of them in one shard: see the migration `pauses`. */
import { MAX_PAUSES } from '../../domain/basics/bounds.ts'
import { COMMON_SHARD } from '../../domain/basics/shard.ts'
import type { Pause, PauseDraft, UnliftedPause } from '../../domain/pauses/pause.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Queryable, Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'

export const PAUSE_SHARD = COMMON_SHARD
const SHARD = sqlInteger(PAUSE_SHARD)

export const PAUSE_COLUMNS = sql`id, user_id, country, message_types, until, reason, origin, evidence, observed,
  created_at, created_by, lifted_at, lifted_by`

/** That a pause is active at a time: the form of the index `pause_unlifted`. */
export const activeAt = (at: Sql) => sql`lifted_at is null and coalesce(until, 'infinity'::timestamptz) > ${at}`

export async function findPause(db: Queryable, id: number): Promise<Pause | undefined> {
  const [pause] = await db.query<Pause>({
    text: sql`select ${PAUSE_COLUMNS} from pause where shard = ${SHARD} and id = $1`,
    values: [id],
  })
  return pause
}

/* ── What processes know ────────────────────────────────────────────────────────────────────────────────────────── */

/** Numbers that are other ones after each change: of pauses, and of rate cards. */
export async function readRuleStates(db: Queryable): Promise<{ pauses: number; rates: number } | undefined> {
  const [row] = await db.query<{ pauses: number; rates: number }>({
    name: 'rule-states',
    text: sql`select state as pauses, rates from pause_state where shard = ${SHARD}`,
  })
  return row
}

/** The active pauses by id, and the state that they are of. One statement, so that both are of one snapshot. */
export async function readActivePauses(
  db: Queryable,
  now: EpochMs,
): Promise<{ state: number | undefined; pauses: UnliftedPause[] }> {
  const rows = await db.query<{ state: number } & { [Name in keyof UnliftedPause]: UnliftedPause[Name] | null }>({
    text: sql`select s.state, p.id, p.user_id, p.country, p.message_types, p.until, p.reason
           from pause_state s left join pause p on p.shard = s.shard and ${activeAt(sql`$1`)}
           where s.shard = ${SHARD} order by p.id`,
    values: [timestampParam(now)],
  })
  const pauses = rows.flatMap(({ id, country, ...pause }) =>
    id === null || country === null ? [] : [{ ...pause, id, country }],
  )
  return { state: rows[0]?.state, pauses }
}

/* ── Changes ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Lets one transaction at a time change pauses. */
export async function lockPauses(tx: Transaction): Promise<void> {
  await tx.query({ text: sql`select from pause_state where shard = ${SHARD} for update` })
}

/** Random, because a server that took over may lack a change, and the next one must not look like that one. */
const STATES = 2 ** 48

/** Notes a change, so that all processes read the pauses again. The last statement of a change of them. */
async function touch(tx: Transaction, made: 0 | 1): Promise<void> {
  await tx.query({
    text: sql`update pause_state set state = $1, last_id = last_id + $2 where shard = ${SHARD}`,
    values: [Math.floor(Math.random() * STATES), made],
  })
}

/** Adds a pause; undefined if `MAX_PAUSES` are active. The pauses are locked. */
export async function insertPause(
  tx: Transaction,
  draft: PauseDraft,
  { now, actor }: { now: EpochMs; actor: string },
): Promise<Pause | undefined> {
  const { user_id, country, message_types, until, reason, origin, evidence, observed } = draft
  const [pause] = await tx.query<Pause>({
    text: sql`insert into pause (shard, id, user_id, country, message_types, until, reason, origin, evidence, created_at, created_by,
             observed, lifted_at, lifted_by)
           select s.shard, s.last_id + 1, $1::bigint, $2, $3::text[], $4::timestamptz, $5, $6, $7::jsonb, $8::timestamptz, $9,
             $10, case when $10 then $8::timestamptz end, case when $10 then $9 end
           from pause_state s
           where s.shard = ${SHARD} and (
             select count(*) from pause where shard = ${SHARD} and ${activeAt(sql`$8::timestamptz`)}
           ) < ${sqlInteger(MAX_PAUSES)}
           returning ${PAUSE_COLUMNS}`,
    values: [
      user_id,
      country,
      message_types,
      timestampParam(until),
      reason,
      origin,
      evidence === null ? null : JSON.stringify(evidence),
      timestampParam(now),
      actor,
      observed,
    ],
  })
  if (pause !== undefined) await touch(tx, 1)
  return pause
}

/** The last pause of a destination that the breaker made, or only observed. */
export async function latestOfBreaker(db: Queryable, userId: number, country: string): Promise<Pause | undefined> {
  const [pause] = await db.query<Pause>({
    text: sql`select ${PAUSE_COLUMNS} from pause
           where shard = ${SHARD} and user_id = $1 and country = $2 and origin = 'breaker' order by id desc limit 1`,
    values: [userId, country],
  })
  return pause
}

/** Lifts a pause that is not lifted. The pauses are locked. */
export async function setLifted(tx: Transaction, { id, lifted_at, lifted_by }: Pause): Promise<void> {
  await tx.query({
    text: sql`update pause set lifted_at = $2, lifted_by = $3 where shard = ${SHARD} and id = $1`,
    values: [id, timestampParam(lifted_at), lifted_by],
  })
  await touch(tx, 0)
}

/* ── Removal ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Removes a page of the pauses that ended, or were lifted, at `cutoff` or before. Resolves to how many it removed. */
export function removeEndedPauses(db: Pick<Database, 'transaction'>, cutoff: EpochMs, rows: number): Promise<number> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const removed = await tx.query({
      text: sql`delete from pause where shard = ${SHARD} and id = any(array(
             select id from pause where shard = ${SHARD} and least(lifted_at, until) <= $1
             order by least(lifted_at, until) limit $2
           )) returning 1`,
      values: [timestampParam(cutoff), rows],
    })
    return removed.length
  })
}

/** Removes a page of a user's pauses and of their changes. Resolves to the number of each. */
export async function removePausesOfUser(
  tx: Transaction,
  userId: number,
  rows: number,
): Promise<{ pause: number; pause_change: number }> {
  await lockPauses(tx)
  const remove = async (table: Sql, id: Sql) => {
    const removed = await tx.query({
      text: sql`delete from ${table} where shard = ${SHARD} and user_id = $1
             and ${id} = any(array(select ${id} from ${table} where shard = ${SHARD} and user_id = $1 limit $2))
             returning 1`,
      values: [userId, rows],
    })
    return removed.length
  }
  const removed = {
    pause: await remove(sql`pause`, sql`id`),
    pause_change: await remove(sql`pause_change`, sql`pause_id`),
  }
  if (removed.pause > 0) await touch(tx, 0)
  return removed
}
