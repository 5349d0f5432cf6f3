import { shardOf } from '../../domain/basics/shard.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { sql } from '../connection/sql.ts'
import { presenceOf, type QuotaFilter, whereClauseOf } from './conditions.ts'

/** Selects the quotas of users by a filter as of `now`, by user and id. It reads all quotas of these users. */
export function selectQuotasOfUsers(
  db: Database,
  userIds: readonly number[],
  filter: QuotaFilter,
  now: EpochMs,
): Promise<Pick<Quota, 'id' | 'created_at'>[]> {
  const select = (tx: Transaction, users: readonly number[]) => {
    const values: SqlValue[] = []
    const shards = bind(values, users.map(shardOf))
    const text = sql`select of_user as user_id, q.id, q.created_at
                  from unnest(${shards}::smallint[], ${bind(values, users)}::bigint[]) k (of_shard, of_user) cross join lateral (
                    select id, created_at from quota
                    where ${presenceOf(filter)} and shard = of_shard and user_id = of_user ${shardFilter(tx, sql`shard`, shards)}
                      and ${whereClauseOf(filter, now, values)} offset 0
                  ) q order by of_user, q.id`
    return tx.query<Pick<Quota, 'user_id' | 'id' | 'created_at'>>({ text, values })
  }
  return db.transaction(async tx => {
    const quotas = await runPerCitusShard(tx, userIds, shardOf, part => select(tx, part))
    return quotas.sort((one, other) => one.user_id - other.user_id || one.id - other.id)
  }, 'keyed snapshot')
}
