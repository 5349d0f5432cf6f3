import { shardOfQuota } from '../../domain/basics/shard.ts'
import type { Allowance } from '../../domain/quotas/quota.ts'
import type { QuotaAlert } from '../../domain/quotas/quota-alert.ts'
import { sql } from '../connection/sql.ts'
import { bigints, numberArray, smallints, texts, timestamps } from './arrays.ts'
import type { Stored } from './rows.ts'
import { guardedUpdate, ledgerStatement, NOW } from './statement.ts'

/** A quota as the batch leaves it, with its `seq` from before, and the marks that it has newly reached. */
export interface ReachedMarks {
  readonly quota: Stored<Allowance>
  readonly marks: readonly number[]
}

/** Runs behind the statements that give these quotas their next `seq`, and keeps that: a row's `seq` grows once a batch. */
export const markAlerted = guardedUpdate<ReachedMarks>(
  'mark-alerted',
  {
    shard: smallints(({ quota }) => shardOfQuota(quota.id)),
    id: bigints(({ quota }) => quota.id),
    seq: bigints(({ quota }) => quota.seq + 1),
    alerted: texts(({ quota }) => numberArray(quota.alerted)),
  },
  ({ k }) => sql`update quota q set alerted = k.alerted::smallint[]
    from ${k}
    where q.shard = k.shard and q.id = k.id and q.seq = k.seq`,
)

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
