/**
 * Quotas that have expired, in the order in which `quota.expired` is emitted: by `expires_at` and id. `shard_head` keeps
 * up to where that was done, so no quota is written.
 */
import type { Quota } from '../domain/quota.ts'
import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database, Transaction } from './database.ts'
import { BY_KEYS_IN_ORDER } from './planner-settings.ts'
import { QUOTA_COLUMNS } from './quotas.ts'
import { timestampParam } from './values.ts'

/** SQL: the next `limit` quotas of the shard of `h` that have expired at `$1`, in order, behind the shard's position. */
const expiredAfterPosition = (columns: string, limit: string) => `
  select ${columns} from quota q
  where q.shard = h.shard and q.deleted_at is null and q.expires_at <= $1
    and (q.expires_at, q.id) > (h.expired_until, h.expired_until_id)
  order by q.expires_at, q.id limit ${limit}`

/** A shard with quotas that have expired and are behind its position. */
export interface ExpiredShard {
  shard: Shard
  /** When the first of them has expired. */
  since: EpochMs
}

/** The shards with quotas that have expired and are behind the shard's position. Takes no lock. */
export function findShardsWithExpired(db: Database, now: EpochMs): Promise<ExpiredShard[]> {
  const next = expiredAfterPosition('q.expires_at as since', '1')
  return db.transaction(
    tx =>
      tx.query<ExpiredShard>({
        name: 'shards-with-expired',
        text: `select h.shard, q.since from shard_head h cross join lateral (${next}) q`,
        values: [timestampParam(now)],
      }),
    'keyed snapshot',
  )
}

/**
 * A page of the shard's quotas that have expired, from its position on; those whose `quota.expired` a change has emitted
 * are among them. The caller has locked the row of `shard_head`, in an earlier statement: every change of a quota locks it
 * before its commit, so this sees each quota as the last change left it.
 */
export async function readExpired(tx: Transaction, shard: Shard, now: EpochMs, limit: number): Promise<Quota[]> {
  await tx.query({ text: BY_KEYS_IN_ORDER })
  return tx.query<Quota>({
    name: 'expired-quotas',
    text: `select q.* from shard_head h cross join lateral (${expiredAfterPosition(QUOTA_COLUMNS, '$3')}) q
           where h.shard = $2`,
    values: [timestampParam(now), shard, limit],
  })
}

/** Moves the shard's position to the end of a quota, all of whose predecessors were emitted. */
export async function moveExpiryPosition(tx: Transaction, shard: Shard, { id }: Pick<Quota, 'id'>): Promise<void> {
  await tx.query({
    name: 'move-expiry-position',
    text: `update shard_head h set (expired_until, expired_until_id) =
             (select q.expires_at, q.id from quota q where q.shard = $1 and q.id = $2)
           where h.shard = $1`,
    values: [shard, id],
  })
}
