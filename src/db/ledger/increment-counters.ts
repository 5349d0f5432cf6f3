import type { Allowance } from '../../domain/quota.ts'
import { shardOfQuota } from '../../domain/shard.ts'
import { sql } from '../connection/sql.ts'
import { bigints, smallints } from './arrays.ts'
import type { Stored } from './rows.ts'
import { guardedUpdate } from './statement.ts'

/** By how much a batch changes the counters of a quota's current window. */
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
