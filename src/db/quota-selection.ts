import type { Quota } from '../domain/quota.ts'
import { shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database, SqlValue } from './database.ts'
import { bind } from './parameters.ts'
import { presenceOf, type QuotaFilter, selectionOf } from './quota-conditions.ts'

/** What a filter selects of users' quotas as of `now`, by user and id. It reads all quotas of these users. */
export function selectQuotasOfUsers(
  db: Database,
  userIds: readonly number[],
  filter: QuotaFilter,
  now: EpochMs,
): Promise<Pick<Quota, 'id' | 'created_at'>[]> {
  const values: SqlValue[] = []
  const users = `unnest(${bind(values, userIds.map(shardOf))}::smallint[], ${bind(values, userIds)}::bigint[])`
  const text = `select q.id, q.created_at from ${users} k (of_shard, of_user) cross join lateral (
                  select id, created_at from quota
                  where ${presenceOf(filter)} and shard = of_shard and user_id = of_user
                    and ${selectionOf(filter, now, values)} offset 0
                ) q order by of_user, q.id`
  return db.transaction(tx => tx.query({ text, values }), 'keyed snapshot')
}
