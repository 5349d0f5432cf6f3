/** What gifts of units read beside the unexpired quotas of users. */

import { shardOf } from '../../domain/basics/shard.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { EXPIRY, expiredAt, fencedSince } from '../ledger/unexpired.ts'
import { QUOTA_COLUMNS } from './quotas.ts'

/** The grant of each user that has expired last, before those that `quotasOfUsers` reads; no grant that gave extra units. */
export function lastExpiredGrants(tx: Transaction, userIds: readonly number[], now: EpochMs): Promise<Quota[]> {
  return runPerCitusShard(tx, userIds, shardOf, part =>
    tx.query<Quota>({
      text: sql`select q.* from unnest($1::smallint[], $2::bigint[]) k (of_shard, of_user) cross join lateral (
             select ${QUOTA_COLUMNS} from quota
             where shard = of_shard and user_id = of_user and ${expiredAt(sql`$3`)} and kind = 'grant'
               and not jsonb_exists(metadata, 'extends_quota') ${shardFilter(tx, sql`shard`, sql`$1`)}
             order by ${EXPIRY} desc limit 1
           ) q`,
      values: [part.map(shardOf), part, timestampParam(fencedSince(now))],
    }),
  )
}

/** A change of a user's quota by a request, as the API shows the quota before and after. */
export interface ChangeOfRequest {
  user_id: number
  before: { limit: number | null } | null
  after: {
    id: number
    limit: number | null
    expires_at: string | null
    external_ref: string | null
    metadata: Record<string, string>
  }
}

/**
 * What a request of an actor has changed of users' quotas, also of those that were deleted or have expired since. By the index of
 * users, it reads the changes of each user since the request began.
 */
export function changesOfRequest(
  tx: Transaction,
  userIds: readonly number[],
  { since, actor, requestId }: { since: EpochMs; actor: string; requestId: string },
): Promise<ChangeOfRequest[]> {
  return runPerCitusShard(tx, userIds, shardOf, part =>
    tx.query<ChangeOfRequest>({
      text: sql`select c.* from unnest($1::smallint[], $2::bigint[]) k (of_shard, of_user) cross join lateral (
             select of_user as user_id, before, after, action, request_id, actor from quota_change
             where (after ->> 'user_id')::bigint = of_user and at >= $3::timestamptz and shard = of_shard
               ${shardFilter(tx, sql`shard`, sql`$1`)} offset 0
           ) c where c.request_id = $4 and c.actor = $5 and c.action in ('created', 'updated')`,
      values: [part.map(shardOf), part, timestampParam(since), requestId, actor],
    }),
  )
}
