import { shardOfQuota } from '../../domain/basics/shard.ts'
import type { Allowance } from '../../domain/quotas/quota.ts'
import { sql } from '../connection/sql.ts'
import { bigints, smallints, timestamps } from './arrays.ts'
import { QUOTA_KEY } from './keys.ts'
import type { Stored } from './rows.ts'
import { guardedUpdate } from './statement.ts'

/** The change that a batch makes to the counters of a quota's current window. */
export interface CounterIncrement {
  readonly quota: Stored<Allowance>
  readonly used: number
  readonly reserved: number
}

/** Counters change by differences and are never set: only a quota that rolls gets new ones. */
export const incrementCounters = guardedUpdate<CounterIncrement>(
  'increment-counters',
  {
    shard: smallints(({ quota }) => shardOfQuota(quota.id)),
    id: bigints(({ quota }) => quota.id),
    seq: bigints(({ quota }) => quota.seq),
    used: bigints(({ used }) => used),
    reserved: bigints(({ reserved }) => reserved),
  },
  ({ k }) => sql`update quota q set used = q.used + k.used, reserved = q.reserved + k.reserved, seq = q.seq + 1
    from ${k}
    where q.shard = k.shard and q.id = k.id and q.seq = k.seq`,
)

/** Moves quotas to the window that holds the batch's time, with the counters that the batch leaves in it. */
export const rollQuotas = guardedUpdate<Stored<Allowance>>(
  'roll-quotas',
  {
    ...QUOTA_KEY,
    seq: bigints(quota => quota.seq),
    used: bigints(quota => quota.used),
    reserved: bigints(quota => quota.reserved),
    rolled_over: bigints(quota => quota.rolled_over),
    window_no: bigints(quota => quota.window_no),
    window_start: timestamps(quota => quota.window_start),
    window_end: timestamps(quota => quota.window_end),
  },
  ({ k }) => sql`update quota q set used = k.used, reserved = k.reserved, rolled_over = k.rolled_over,
      window_no = k.window_no, window_start = k.window_start, window_end = k.window_end, alerted = '{}', seq = q.seq + 1
    from ${k}
    where q.shard = k.shard and q.id = k.id and q.seq = k.seq`,
)
