/**
 * The pages of an erasure: each removes rows of the user in a transaction of its own, and counts in the record what it
 * removed. All of them can be repeated, so an erasure goes on after a crash where it was.
 */
import { shardOf } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { forgetUser } from '../breaker/settings.ts'
import { CHANGE_LOGS } from '../changes/logs.ts'
import { shardFilter } from '../cluster/parts.ts'
import { type Database, inSnapshot, type Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlName } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { removePausesOfUser } from '../pauses/pauses.ts'
import { removeQuota } from '../quotas/removal.ts'
import { IS_SETTLED, removalOf, removeReservations } from '../reservations/settled.ts'
import { ofShard } from '../usage/columns.ts'
import { lockUpkeep } from '../usage/maintenance.ts'
import type { ErasureKey } from './erasure.ts'
import { removeProfile } from './profiles.ts'

/** The rows that a page removed, by table, and a result for its caller. */
interface Page<Result> {
  removed: Record<string, number>
  result: Result
}

/** Another process works on the erasure, or has finished it. */
export const TAKEN = Symbol('taken')

/** Runs a page under the lock of the erasure's record, and counts in it what the page removed. */
export function page<Result>(
  db: Database,
  { user_id, requested_at }: ErasureKey,
  work: (tx: Transaction) => Promise<Page<Result>>,
): Promise<Result | typeof TAKEN> {
  const key = [shardOf(user_id), user_id, timestampParam(requested_at)]
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const locked = await tx.query({
      name: 'lock-erasure',
      text: sql`select 1 from erasure where shard = $1 and user_id = $2 and requested_at = $3 and finished_at is null
             for update skip locked`,
      values: key,
    })
    if (locked.length === 0) return TAKEN
    const { removed, result } = await work(tx)
    const counted = Object.entries(removed).filter(([, rows]) => rows > 0)
    if (counted.length > 0)
      await tx.query({
        name: 'count-erased',
        text: sql`update erasure set removed = removed || (
                 select jsonb_object_agg(key, coalesce((removed ->> key)::bigint, 0) + value::bigint)
                 from jsonb_each_text($4::jsonb))
               where shard = $1 and user_id = $2 and requested_at = $3`,
        values: [...key, JSON.stringify(Object.fromEntries(counted))],
      })
    return result
  })
}

export interface ReservationsPage {
  read: number
  removed: number
  /** The ids of those that are open, and were left. */
  open: string[]
  /** The last creation time that was read, with all reservations of that time; null: it was the last page. */
  reached: EpochMs | null
}

const ERASE_RESERVATIONS = removalOf(
  sql`select user_id, id, created_at, committed + released < units as is_open from reservation
   where shard = $1 and -user_id = -$2::bigint and created_at > $3::timestamptz
   order by created_at fetch first ($4::bigint) rows with ties`,
  IS_SETTLED,
  sql`(select count(*) from page) as read, array(select id from page where is_open order by id) as open,
    (select case when count(*) >= $4 then max(created_at) end from page) as reached`,
)

/**
 * Removes the settled reservations of a page of the user's, those first that were made first; a few more than `rows` if several were
 * made at the same time. What they used goes to the archive, until that goes too.
 *
 * @param after the creation time after which it begins
 */
export function eraseReservations(
  db: Database,
  erasure: ErasureKey,
  after: EpochMs,
  rows: number,
): Promise<ReservationsPage | typeof TAKEN> {
  const { user_id } = erasure
  const shard = shardOf(user_id)
  return page(db, erasure, async tx => {
    const result = await removeReservations<ReservationsPage>(tx, shard, {
      text: ERASE_RESERVATIONS,
      values: [shard, user_id, timestampParam(after), rows],
    })
    return { removed: { reservation: result.removed }, result }
  })
}

/** Removes a page of one of the user's deleted quotas. No reservation may draw on it any more. Resolves to whether that was all. */
export function eraseQuota(db: Database, erasure: ErasureKey, rows: number): Promise<boolean | typeof TAKEN> {
  const shard = shardOf(erasure.user_id)
  return page(db, erasure, async tx => {
    const [quota] = await tx.query<{ id: number }>({
      name: 'next-erased-quota',
      text: sql`select id from quota where shard = $1 and user_id = $2 and deleted_at is not null order by id limit 1`,
      values: [shard, erasure.user_id],
    })
    if (quota === undefined) return { removed: {}, result: true }
    const { rows: removed } = await removeQuota(tx, shard, quota.id, rows)
    return { removed, result: false }
  })
}

/**
 * Tables whose keys begin with shard and user_id, and that have no page of their own here. Those of usage are in the order
 * in which compaction moves it. The key of `breaker_minute` is another one: it is small.
 */
const TABLES_OF_USER = [
  'usage_busy_range',
  'usage_busy',
  'usage',
  'usage_day',
  'usage_month',
  'breaker_minute',
  'denial',
  'reservation_action',
  'event_sequence',
  'transfer',
  'user_address',
  'increase_request',
  'customer_figures',
  ...Object.values(CHANGE_LOGS).flatMap(({ table, isErasedByUser }) => (isErasedByUser ? [table] : [])),
]

/**
 * Removes a page of the user's rows of such tables. Resolves to whether that was all. No usage of the shard is compacted or
 * added up meanwhile; while it is, resolves to `TAKEN`.
 */
export function eraseRows(db: Database, erasure: ErasureKey, rows: number): Promise<boolean | typeof TAKEN> {
  const shard = shardOf(erasure.user_id)
  return page<boolean | typeof TAKEN>(db, erasure, async tx => {
    if ((await lockUpkeep(tx, shard)) === undefined) return { removed: {}, result: TAKEN }
    const removed: Record<string, number> = {}
    let isDone = true
    for (const table of TABLES_OF_USER) {
      const found = await pageOf(
        tx,
        sql`with page as materialized (
           select ctid as place from ${sqlName(table)} where shard = $1 and user_id = $2 limit $3
         ), removed as (
           delete from ${sqlName(table)} where shard = $1 and ctid = any(array(select place from page)) returning 1
         ) select (select count(*) from page) as read, (select count(*) from removed) as removed`,
        [shard, erasure.user_id, rows],
      )
      removed[table] = found.removed
      isDone &&= isLast(found, rows)
    }
    return { removed, result: isDone }
  })
}

/**
 * Takes the user out of a page of the lists of top users. `missed` stays: it bounds what users who are missing committed,
 * and the user's usage is gone. Resolves to whether that was all.
 */
export function eraseTopUsers(db: Database, erasure: ErasureKey, rows: number): Promise<boolean | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const found = await pageOf(
      tx,
      sql`with page as materialized (
         select bucket from usage_top where shard = $1 and $2 = any(users) order by bucket limit $3
       ), removed as (
         update usage_top t set (users, units) = (
           select coalesce(array_agg(user_id order by place), '{}'), coalesce(array_agg(units order by place), '{}')
           from unnest(t.users, t.units) with ordinality u (user_id, units, place) where user_id <> $2
         )
         from page where t.shard = $1 and t.bucket = page.bucket returning 1
       ) select (select count(*) from page) as read, (select count(*) from removed) as removed`,
      [shardOf(erasure.user_id), erasure.user_id, rows],
    )
    return { removed: { usage_top: found.removed }, result: isLast(found, rows) }
  })
}

/**
 * Blanks a page of the user's events, the oldest first: numbers have no gaps, so the rows stay. Readers skip blanked
 * events, so their deliveries are removed. Resolves to whether that was all.
 */
export function eraseEvents(db: Database, erasure: ErasureKey, rows: number): Promise<boolean | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const shard = shardOf(erasure.user_id)
    const events = await tx.query<{ number: number }>({
      text: sql`select number from event where shard = $1 and user_id = $2 order by sequence limit $3`,
      values: [shard, erasure.user_id, rows],
    })
    if (events.length === 0) return { removed: {}, result: true }
    const numbers = events.map(({ number }) => number)
    // In the shards of the webhooks, so in a statement of its own.
    await tx.query({
      text: sql`delete from webhook_delivery d using webhook w, unnest($2::bigint[]) k (number)
             where d.shard = w.shard and d.webhook_id = w.id and d.event_shard = $1 and d.number = k.number`,
      values: [shard, numbers],
    })
    const removed = await tx.query({
      text: sql`update event set user_id = null, sequence = null, data = '{"erased": true}'
             where shard = $1 and number = any($2::bigint[]) returning 1`,
      values: [shard, numbers],
    })
    return {
      removed: { event: removed.length },
      result: isLast({ read: events.length, removed: removed.length }, rows),
    }
  })
}

/**
 * The number of rows that a page read, and of those that it removed: another transaction may have changed or removed the
 * others.
 */
interface PageCounts {
  read: number
  removed: number
}

async function pageOf(tx: Transaction, text: Sql, values: number[]): Promise<PageCounts> {
  const [counts] = await tx.query<PageCounts>({ text, values })
  if (counts === undefined) throw new Error('the database returned no row')
  return counts
}

/** Whether nothing is left behind a page. Of a row that another transaction changed meanwhile, the next page decides. */
const isLast = ({ read, removed }: PageCounts, rows: number) => read < rows && removed === read

/** Removes a page of the user's pauses, and of their changes. Resolves to whether that was all. */
export function erasePauses(db: Database, erasure: ErasureKey, rows: number): Promise<boolean | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const removed = await removePausesOfUser(tx, erasure.user_id, rows)
    return { removed: { ...removed }, result: removed.pause < rows && removed.pause_change < rows }
  })
}

/** Takes the user from the settings of the breaker, and from what it noted. */
export function eraseFromBreaker(db: Database, erasure: ErasureKey): Promise<boolean | typeof TAKEN> {
  return page(db, erasure, async tx => {
    await forgetUser(tx, erasure.user_id)
    return { removed: {}, result: true }
  })
}

/** Blanks a page of the transfers that the user received: the givers keep theirs. Resolves to whether that was all. */
export function eraseReceived(db: Database, erasure: ErasureKey, rows: number): Promise<boolean | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const received = await tx.query<{ shard: number; id: number }>({
      text: sql`select shard, id from transfer where to_user_id = $1 order by id limit $2`,
      values: [erasure.user_id, rows],
    })
    if (received.length === 0) return { removed: {}, result: true }
    await tx.query({
      text: sql`update transfer t set to_user_id = null, to_quota_id = null, reason = null
             from unnest($1::smallint[], $2::bigint[]) k (shard, id)
             where t.shard = k.shard and t.id = k.id ${shardFilter(tx, sql`t.shard`, sql`$1`)}`,
      values: [received.map(({ shard }) => shard), received.map(({ id }) => id)],
    })
    return { removed: { transfer: received.length }, result: received.length < rows }
  })
}

/** Removes the answers to calls with an Idempotency-Key that name the user. There are a few, of the last days. */
export function eraseAnswers(db: Database, erasure: ErasureKey): Promise<true | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const removed = await tx.query({
      text: sql`delete from idempotency where $1 in ((answer ->> 'user_id')::bigint,
               (answer -> 'transfer' ->> 'user_id')::bigint, (answer -> 'transfer' ->> 'to_user_id')::bigint)
               or answer -> 'webhook' -> 'user_ids' @> to_jsonb($1::bigint) returning 1`,
      values: [erasure.user_id],
    })
    return { removed: { idempotency: removed.length }, result: true }
  })
}

/** Removes the names of the user's tokens. A token that comes later stores its name again. */
export function eraseNames(db: Database, erasure: ErasureKey): Promise<true | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const removed = await tx.query({
      text: sql`delete from principal_name where user_id = $1 returning 1`,
      values: [erasure.user_id],
    })
    return { removed: { principal_name: removed.length }, result: true }
  })
}

/** Removes the user's profile. The reference is free for another user some minutes later. */
export function eraseProfile(db: Database, erasure: ErasureKey, now: EpochMs): Promise<true | typeof TAKEN> {
  return page(db, erasure, async tx => ({
    removed: { user_profile: await removeProfile(tx, erasure.user_id, now) },
    result: true,
  }))
}

/* ── Usage that is not rolled up ────────────────────────────────────────────────────────────────────────────────── */

/** The number of the newest batch of usage that holds the user's; null: none does. */
export async function newestPendingUsage(db: Database, userId: number): Promise<number | null> {
  const [row] = await inSnapshot<{ number: number | null }>(db, store => ({
    text: sql`select max(number) as number from usage_pending p where ${ofShard(store, sql`$1`)} and $2 = any(users)`,
    values: [shardOf(userId), userId],
  }))
  return row?.number ?? null
}

/** Whether a batch up to a number holds usage of the user: one that is being rolled up counts until that is committed. */
export async function hasPendingUsage(db: Database, userId: number, upTo: number): Promise<boolean> {
  const rows = await inSnapshot(db, store => ({
    text: sql`select from usage_pending p where ${ofShard(store, sql`$1`)} and number <= $3 and $2 = any(users) limit 1`,
    values: [shardOf(userId), userId, upTo],
  }))
  return rows.length > 0
}

/* ── The end ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The edition of the tables that these pages erase: an eraser that names none, of version 0.1.0, cannot end an erasure. */
const KNOWN_TABLES = 1

/** Removes the account, and notes that the erasure is finished. `announce` writes the event, as the last statements. */
export function finishErasure(
  db: Database,
  erasure: ErasureKey,
  now: EpochMs,
  announce: (tx: Transaction) => Promise<void>,
): Promise<true | typeof TAKEN> {
  const { user_id, requested_at } = erasure
  const key = [shardOf(user_id), user_id]
  return page(db, erasure, async tx => {
    await tx.query({
      text: sql`update erasure set finished_at = $4, known_tables = $5 where shard = $1 and user_id = $2 and requested_at = $3`,
      values: [...key, timestampParam(requested_at), timestampParam(now), KNOWN_TABLES],
    })
    await tx.query({ text: sql`delete from account where shard = $1 and user_id = $2`, values: key })
    await announce(tx)
    return { removed: {}, result: true }
  })
}
