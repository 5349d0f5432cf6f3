/**
 * The erasure of a user: its record, and the removal of all rows of the user, in pages. Each page is a transaction of its
 * own that counts what it removed; all of them can be repeated, so an erasure goes on after a crash where it was.
 */
import type { QuotaKind } from '../domain/quota.ts'
import { shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database, Queryable, Transaction } from './database.ts'
import type { QuotaTotals } from './outbox-writes.ts'
import { BY_KEYS } from './planner-settings.ts'
import { removeQuota } from './quota-removal.ts'
import { IS_SETTLED, removalOf, removeReservations } from './settled-reservations.ts'
import { timestampParam } from './values.ts'

/** The record of an erasure. */
export interface Erasure {
  user_id: number
  requested_at: EpochMs
  requested_by: string
  request_id: string
  /** Whether open reservations are released; without, there were none. */
  force: boolean
  /** Null: under way. */
  finished_at: EpochMs | null
  /** How many rows were removed so far, by table. */
  removed: Record<string, number>
}

export type ErasureKey = Pick<Erasure, 'user_id' | 'requested_at'>

const COLUMNS = 'user_id, requested_at, requested_by, request_id, force, finished_at, removed'

/* ── The record ─────────────────────────────────────────────────────────────────────────────────────────────────── */

/**
 * The last erasure of a user; undefined if there never was one. A lock is a write, so with a synchronous standby the commit
 * of its transaction waits until the standby has the record, too.
 */
export async function findErasure(db: Queryable, userId: number, lock: 'lock' | '' = ''): Promise<Erasure | undefined> {
  const [erasure] = await db.query<Erasure>({
    text: `select ${COLUMNS} from erasure where shard = $1 and user_id = $2 order by requested_at desc limit 1
           ${lock === 'lock' ? 'for update' : ''}`,
    values: [shardOf(userId), userId],
  })
  return erasure
}

/** Whether an erasure of the user is under way. Conclusive only under the lock of the user's account. */
export async function isBeingErased(db: Queryable, userId: number): Promise<boolean> {
  const rows = await db.query({
    text: 'select from erasure where shard = $1 and user_id = $2 and finished_at is null',
    values: [shardOf(userId), userId],
  })
  return rows.length > 0
}

/** A page of the erasures that are under way, in the order of shard and user, after one of them. */
export function listErasures(db: Queryable, afterUser: number | null, limit: number): Promise<Erasure[]> {
  return db.query<Erasure>({
    text: `select ${COLUMNS} from erasure
           where finished_at is null and ($1::bigint is null or (shard, user_id) > ($2::smallint, $1::bigint))
           order by shard, user_id limit $3`,
    values: [afterUser, afterUser === null ? null : shardOf(afterUser), limit],
  })
}

export async function insertErasure(tx: Transaction, erasure: Omit<Erasure, 'removed' | 'finished_at'>): Promise<void> {
  const { user_id, requested_at, requested_by, request_id, force } = erasure
  await tx.query({
    text: `insert into erasure (shard, user_id, requested_at, requested_by, request_id, force)
           values ($1, $2, $3, $4, $5, $6)`,
    values: [shardOf(user_id), user_id, timestampParam(requested_at), requested_by, request_id, force],
  })
}

/* ── The beginning ──────────────────────────────────────────────────────────────────────────────────────────────── */

/** Closed windows of a quota in which reservations can be open: they are open for a week at most, and no window is shorter than an hour. */
const WINDOWS_WITH_OPEN = 200

/** Locks the user's undeleted quotas, in the engine's order. The account is locked before. */
export async function lockUndeletedQuotas(tx: Transaction, userId: number): Promise<void> {
  await tx.query({
    text: `select 1 from quota where shard = $1 and user_id = $2 and deleted_at is null order by id for update`,
    values: [shardOf(userId), userId],
  })
}

/** Whether a quota of the user, deleted or not, has reserved units, in its current window or one that closed. */
export async function hasReservedUnits(tx: Transaction, userId: number): Promise<boolean> {
  const ofUser = (state: string) =>
    `select id, reserved from quota where shard = $1 and user_id = $2 and deleted_at is ${state}`
  const [row] = await tx.query<{ reserved: boolean }>({
    text: `select exists (
             select from (${ofUser('null')} union all ${ofUser('not null')}) q
             where q.reserved > 0 or exists (
               select from (
                 select reserved from quota_window w where w.shard = $1 and w.quota_id = q.id
                 order by window_no desc limit ${WINDOWS_WITH_OPEN}
               ) w where w.reserved > 0
             )
           ) as reserved`,
    values: [shardOf(userId), userId],
  })
  return row?.reserved ?? false
}

/**
 * Deletes all quotas of the user, which are locked. They get a new `seq`, so that no engine writes what it decided from
 * memory. Returns by how much the shard's totals change.
 */
export async function deleteQuotas(tx: Transaction, userId: number, now: EpochMs, actor: string): Promise<QuotaTotals> {
  const deleted = await tx.query<{ kind: QuotaKind }>({
    text: `update quota set deleted_at = $3, updated_at = $3, updated_by = $4, version = version + 1, seq = seq + 1
           where shard = $1 and user_id = $2 and deleted_at is null returning kind`,
    values: [shardOf(userId), userId, timestampParam(now), actor],
  })
  const grants = deleted.filter(({ kind }) => kind === 'grant').length
  const caps = deleted.length - grants
  return { grants: -grants, deleted_grants: grants, caps: -caps, deleted_caps: caps }
}

/* ── Pages ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** What a page removed, by table, and what its caller needs beside that. */
interface Page<Result> {
  removed: Record<string, number>
  result: Result
}

/** Another process works on the erasure, or has finished it. */
export const TAKEN = Symbol('taken')

/** Runs a page under the lock of the erasure's record, and counts in it what the page removed. */
function page<Result>(
  db: Database,
  { user_id, requested_at }: ErasureKey,
  work: (tx: Transaction) => Promise<Page<Result>>,
): Promise<Result | typeof TAKEN> {
  const key = [shardOf(user_id), user_id, timestampParam(requested_at)]
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const locked = await tx.query({
      name: 'lock-erasure',
      text: `select 1 from erasure where shard = $1 and user_id = $2 and requested_at = $3 and finished_at is null
             for update skip locked`,
      values: key,
    })
    if (locked.length === 0) return TAKEN
    const { removed, result } = await work(tx)
    const counted = Object.entries(removed).filter(([, rows]) => rows > 0)
    if (counted.length > 0)
      await tx.query({
        name: 'count-erased',
        text: `update erasure set removed = removed || (
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
  /** The last id that was read; null: it was the last page. */
  reached: string | null
}

const ERASE_RESERVATIONS = removalOf(
  `select user_id, id, committed + released < units as is_open from reservation
   where shard = $1 and user_id = $2 and id > $3 order by id limit $4`,
  IS_SETTLED,
  `(select count(*) from page) as read, array(select id from page where is_open order by id) as open,
    (select case when count(*) >= $4 then max(id) end from page) as reached`,
)

/** Removes the settled reservations of a page of the user's, by id. What they used goes to the archive, until that goes too. */
export function eraseReservations(
  db: Database,
  erasure: ErasureKey,
  after: string,
  rows: number,
): Promise<ReservationsPage | typeof TAKEN> {
  const { user_id } = erasure
  const shard = shardOf(user_id)
  return page(db, erasure, async tx => {
    const result = await removeReservations<ReservationsPage>(tx, shard, {
      name: 'erase-reservations',
      text: ERASE_RESERVATIONS,
      values: [shard, user_id, after, rows],
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
      text: `select id from quota where shard = $1 and user_id = $2 and deleted_at is not null order by id limit 1`,
      values: [shard, erasure.user_id],
    })
    if (quota === undefined) return { removed: {}, result: true }
    const { rows: removed } = await removeQuota(tx, shard, quota.id, rows)
    return { removed, result: false }
  })
}

/** Tables whose keys begin with shard and user_id, and that have no page of their own here. */
const TABLES_OF_USER = ['usage'] as const

/** Removes a page of the user's rows of such tables. Resolves to whether that was all. */
export function eraseRows(db: Database, erasure: ErasureKey, rows: number): Promise<boolean | typeof TAKEN> {
  const values = [shardOf(erasure.user_id), erasure.user_id, rows]
  return page(db, erasure, async tx => {
    const removed: Record<string, number> = {}
    for (const table of TABLES_OF_USER) {
      removed[table] = await countOf(
        tx,
        `with removed as (
           delete from ${table} where shard = $1
             and ctid = any(array(select ctid from ${table} where shard = $1 and user_id = $2 limit $3))
           returning 1
         ) select count(*) as removed from removed`,
        values,
      )
    }
    return { removed, result: Object.values(removed).every(count => count < rows) }
  })
}

/**
 * Blanks a page of the user's events, the oldest first: numbers have no gaps, so the rows stay. Readers skip blanked
 * events, so their deliveries are removed. Resolves to whether that was all.
 */
export function eraseEvents(db: Database, erasure: ErasureKey, rows: number): Promise<boolean | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const event = await countOf(
      tx,
      `with page as materialized (
         select number from event where shard = $1 and user_id = $2 order by sequence limit $3
       ), undelivered as (
         delete from webhook_delivery d using page, webhook w
         where d.shard = w.shard and d.webhook_id = w.id and d.event_shard = $1 and d.number = page.number
       ), removed as (
         update event e set user_id = null, sequence = null, data = '{"erased": true}'
         from page where e.shard = $1 and e.number = page.number returning 1
       ) select count(*) as removed from removed`,
      [shardOf(erasure.user_id), erasure.user_id, rows],
    )
    return { removed: { event }, result: event < rows }
  })
}

/** Removes the answers to calls with an Idempotency-Key that hold a quota of the user. There are a few, of the last days. */
export function eraseAnswers(db: Database, erasure: ErasureKey): Promise<true | typeof TAKEN> {
  return page(db, erasure, async tx => {
    const idempotency = await countOf(
      tx,
      `with removed as (
         delete from idempotency where (answer ->> 'user_id')::bigint = $1 returning 1
       ) select count(*) as removed from removed`,
      [erasure.user_id],
    )
    return { removed: { idempotency }, result: true }
  })
}

async function countOf(tx: Transaction, text: string, values: number[]): Promise<number> {
  const [row] = await tx.query<{ removed: number }>({ text, values })
  return row?.removed ?? 0
}

/* ── Usage that is not rolled up ────────────────────────────────────────────────────────────────────────────────── */

/** The number of the newest batch of usage that holds the user's; null: none does. */
export async function newestPendingUsage(db: Queryable, userId: number): Promise<number | null> {
  const [row] = await db.query<{ number: number | null }>({
    text: 'select max(number) as number from usage_pending where shard = $1 and $2 = any(users)',
    values: [shardOf(userId), userId],
  })
  return row?.number ?? null
}

/** Whether a batch up to a number holds usage of the user: one that is being rolled up counts until that is committed. */
export async function hasPendingUsage(db: Queryable, userId: number, upTo: number): Promise<boolean> {
  const rows = await db.query({
    text: 'select from usage_pending where shard = $1 and number <= $3 and $2 = any(users) limit 1',
    values: [shardOf(userId), userId, upTo],
  })
  return rows.length > 0
}

/* ── The end ────────────────────────────────────────────────────────────────────────────────────────────────────── */

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
      text: 'update erasure set finished_at = $4 where shard = $1 and user_id = $2 and requested_at = $3',
      values: [...key, timestampParam(requested_at), timestampParam(now)],
    })
    await tx.query({ text: 'delete from account where shard = $1 and user_id = $2', values: key })
    await announce(tx)
    return { removed: {}, result: true }
  })
}
