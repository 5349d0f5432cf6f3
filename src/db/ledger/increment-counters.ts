import type { Allowance } from '../../domain/quota.ts'
import { bigints } from './arrays.ts'
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
    user_id: bigints(({ quota }) => quota.user_id),
    id: bigints(({ quota }) => quota.id),
    seq: bigints(({ quota }) => quota.seq),
    used: bigints(({ used }) => used),
    reserved: bigints(({ reserved }) => reserved),
  },
  ({ shard, k }) => `update quota q set used = q.used + k.used, reserved = q.reserved + k.reserved, seq = q.seq + 1
    from ${k}
    where q.shard = ${shard} and q.user_id = k.user_id and q.id = k.id and q.seq = k.seq`,
)
