/**
 * Quotas that have expired, in the order in which `quota.expired` is emitted: by `expires_at` and id. `shard_head` keeps
 * up to where that was done, so no quota is written.
 */
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import type { Shard } from '../../domain/basics/shard.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { type FirstRow, findFirstRows } from '../cluster/first-rows.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { BY_KEYS, BY_KEYS_IN_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { QUOTA_COLUMNS } from './quotas.ts'

/** SQL: that a quota `q` of the shard of `h` has expired at `$1`, and is behind the shard's position. */
const EXPIRED_AFTER_POSITION = sql`q.shard = h.shard and q.deleted_at is null and q.expires_at <= $1
    and (q.expires_at, q.id) > (h.expired_until, h.expired_until_id)`

/** The shards with quotas that have expired and are behind the shard's position, and when the first of them has expired. */
export const findShardsWithExpired = (db: Database, now: EpochMs): Promise<FirstRow[]> =>
  findFirstRows(db, {
    name: 'shards-with-expired',
    ...{ from: sql`quota q`, by: sql`q.expires_at`, where: EXPIRED_AFTER_POSITION },
    values: [timestampParam(now)],
  })

/**
 * A page of the shard's quotas that have expired, from its position on; those whose `quota.expired` a change has emitted
 * are among them. The caller has locked the row of `shard_head`, in an earlier statement: every change of a quota locks it
 * before its commit, so this sees each quota as the last change left it.
 */
export async function readExpired(tx: Transaction, shard: Shard, now: EpochMs, limit: number): Promise<Quota[]> {
  await tx.query({ text: BY_KEYS_IN_ORDER })
  return tx.query<Quota>({
    name: 'expired-quotas',
    text: sql`select q.* from shard_head h cross join lateral (
             select ${QUOTA_COLUMNS} from quota q where ${EXPIRED_AFTER_POSITION} order by q.expires_at, q.id limit $3
           ) q
           where h.shard = $2`,
    values: [timestampParam(now), shard, limit],
  })
}

/** Moves the shard's position to the end of a quota, all of whose predecessors were emitted. */
export async function moveExpiryPosition(tx: Transaction, shard: Shard, { id }: Pick<Quota, 'id'>): Promise<void> {
  await tx.query({
    name: 'move-expiry-position',
    text: sql`update shard_head h set (expired_until, expired_until_id) =
             (select q.expires_at, q.id from quota q where q.shard = $1 and q.id = $2)
           where h.shard = $1`,
    values: [shard, id],
  })
}

/** The shards whose position is behind `latest`: there, no end was due yet. */
export async function findShardsAhead(db: Database, latest: EpochMs): Promise<Shard[]> {
  const rows = await db.query<{ shard: Shard }>({
    name: 'shards-ahead',
    text: sql`select shard from shard_head where expired_until > $1 order by shard`,
    values: [timestampParam(latest)],
  })
  return rows.map(({ shard }) => shard)
}

/** Takes back the mark `expiry_emitted` of the shard's quotas that have not expired. It locks them in the engine's order. */
export async function unmarkUnexpired(tx: Transaction, shard: Shard, now: EpochMs): Promise<void> {
  await tx.query({ text: BY_KEYS })
  await tx.query({
    text: sql`with marked as materialized (
             select id from quota where shard = $1 and deleted_at is null and expires_at > $2 and expiry_emitted
             order by user_id, id for update
           )
           update quota q set expiry_emitted = false from marked where q.shard = $1 and q.id = marked.id`,
    values: [shard, timestampParam(now)],
  })
}

/** Moves the shard's position back to a time before which all ends were emitted. */
export async function setBackExpiryPosition(tx: Transaction, shard: Shard, now: EpochMs): Promise<void> {
  await tx.query({
    text: sql`update shard_head set expired_until = $2, expired_until_id = $3 where shard = $1`,
    values: [shard, timestampParam(now), MAX_INTEGER],
  })
}
