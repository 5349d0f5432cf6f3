/** The erasure of a user: its record, and its beginning. `erasure-pages.ts` removes the rows. */

import { shardOf } from '../../domain/basics/shard.ts'
import { requireKnown } from '../../domain/basics/unknown-value.ts'
import { QUOTA_KINDS, type QuotaKind } from '../../domain/quotas/quota-settings.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Queryable, Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import type { QuotaTotals } from '../outbox/writes.ts'

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
  /** The number of rows that were removed so far, by table. */
  removed: Record<string, number>
}

export type ErasureKey = Pick<Erasure, 'user_id' | 'requested_at'>

const COLUMNS = sql`user_id, requested_at, requested_by, request_id, force, finished_at, removed`

/* ── The record ─────────────────────────────────────────────────────────────────────────────────────────────────── */

/**
 * The last erasure of a user; undefined if there never was one. A lock is a write, so with a synchronous standby the commit
 * of its transaction waits until the standby has the record, too.
 */
export async function findErasure(db: Queryable, userId: number, lock: 'lock' | '' = ''): Promise<Erasure | undefined> {
  const [erasure] = await db.query<Erasure>({
    text: sql`select ${COLUMNS} from erasure where shard = $1 and user_id = $2 order by requested_at desc limit 1
           ${lock === 'lock' ? sql`for update` : sql``}`,
    values: [shardOf(userId), userId],
  })
  return erasure
}

/** The users, of these, whose erasure is under way. Conclusive only under the locks of their accounts. */
export async function usersBeingErased(db: Queryable, userIds: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await db.query<{ user_id: number }>({
    text: sql`select user_id from erasure where shard = any ($1::smallint[]) and user_id = any ($2::bigint[])
             and finished_at is null`,
    values: [[...new Set(userIds.map(shardOf))], userIds],
  })
  return new Set(rows.map(({ user_id }) => user_id))
}

/** Whether the data of a user is being erased. Conclusive only under the lock of the account. */
export const isBeingErased = async (db: Queryable, userId: number) => (await usersBeingErased(db, [userId])).size > 0

/** A page of the erasures that are under way, in the order of shard and user, after one of them. */
export function listErasures(db: Queryable, afterUser: number | null, limit: number): Promise<Erasure[]> {
  return db.query<Erasure>({
    text: sql`select ${COLUMNS} from erasure
           where finished_at is null and ($1::bigint is null or (shard, user_id) > ($2::smallint, $1::bigint))
           order by shard, user_id limit $3`,
    values: [afterUser, afterUser === null ? null : shardOf(afterUser), limit],
  })
}

export async function insertErasure(tx: Transaction, erasure: Omit<Erasure, 'removed' | 'finished_at'>): Promise<void> {
  const { user_id, requested_at, requested_by, request_id, force } = erasure
  await tx.query({
    text: sql`insert into erasure (shard, user_id, requested_at, requested_by, request_id, force)
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
    text: sql`select 1 from quota where shard = $1 and user_id = $2 and deleted_at is null order by id for update`,
    values: [shardOf(userId), userId],
  })
}

/** Whether a quota of the user, deleted or not, has reserved units, in its current window or one that closed. */
export async function hasReservedUnits(tx: Transaction, userId: number): Promise<boolean> {
  const ofUser = (state: Sql) =>
    sql`select id, reserved from quota where shard = $1 and user_id = $2 and deleted_at is ${state}`
  const [row] = await tx.query<{ reserved: boolean }>({
    text: sql`select exists (
             select from (${ofUser(sql`null`)} union all ${ofUser(sql`not null`)}) q
             where q.reserved > 0 or exists (
               select from (
                 select reserved from quota_window w where w.shard = $1 and w.quota_id = q.id
                 order by window_no desc limit ${sqlInteger(WINDOWS_WITH_OPEN)}
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
    text: sql`update quota set deleted_at = $3, updated_at = $3, updated_by = $4, version = version + 1, seq = seq + 1
           where shard = $1 and user_id = $2 and deleted_at is null returning kind`,
    values: [shardOf(userId), userId, timestampParam(now), actor],
  })
  const kinds = deleted.map(({ kind }) => requireKnown(`the kind of a quota of user ${userId}`, QUOTA_KINDS, kind))
  const grants = kinds.filter(kind => kind === 'grant').length
  const caps = deleted.length - grants
  return { grants: -grants, deleted_grants: grants, caps: -caps, deleted_caps: caps }
}
