import type { QuotaAlert } from '../../domain/quota-alert.ts'
import { shardOfQuota } from '../../domain/shard.ts'
import { sql } from '../connection/sql.ts'
import { bigints, smallints, timestamps } from './arrays.ts'
import { ledgerStatement, NOW } from './statement.ts'

/**
 * Writes the marks that a batch's quotas have reached. A row of an earlier window is written over. It runs behind the
 * statements that write the quotas, whose locks keep two batches from writing the same row.
 */
export const addAlerts = ledgerStatement<QuotaAlert>(
  'add-alerts',
  {
    shard: smallints(({ quota_id }) => shardOfQuota(quota_id)),
    quota_id: bigints(({ quota_id }) => quota_id),
    percent: smallints(({ percent }) => percent),
    ends_at: timestamps(({ ends_at }) => ends_at),
  },
  ({ k, bind }) => sql`insert into quota_alert (shard, quota_id, percent, at, ends_at)
    select k.shard, k.quota_id, k.percent, ${bind(NOW)}::timestamptz, coalesce(k.ends_at, 'infinity') from ${k}
    on conflict (shard, quota_id, percent) do update set at = excluded.at, ends_at = excluded.ends_at`,
)
