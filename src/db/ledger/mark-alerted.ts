import type { Allowance } from '../../domain/quota.ts'
import { shardOfQuota } from '../../domain/shard.ts'
import { sql } from '../connection/sql.ts'
import { bigints, numberArray, smallints, texts } from './arrays.ts'
import type { Stored } from './rows.ts'
import { guardedUpdate } from './statement.ts'

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
