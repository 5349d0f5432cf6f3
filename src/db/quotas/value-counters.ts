import type { Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { findShardsWith } from '../cluster/first-rows.ts'
import type { Database } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { LISTS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'

/** The shards with counters of single values whose window had ended by then. */
export const findEndedCounters = (db: Database, endedBy: EpochMs): Promise<Shard[]> =>
  findShardsWith(db, {
    name: 'have-ended-counters',
    ...{ from: sql`value_counter c`, by: sql`c.window_end`, where: sql`c.shard = h.shard and c.window_end <= $1` },
    values: [timestampParam(endedBy)],
  })

/** Removes a shard's counters of single values whose window had ended by then, a page at most, and answers how many. */
export function removeEndedCounters(db: Database, shard: Shard, endedBy: EpochMs, rows: number): Promise<number> {
  return db.transaction(async tx => {
    await tx.query({ text: LISTS })
    const removed = await tx.query({
      text: sql`delete from value_counter
             where shard = $1 and ctid = any(array(
               select ctid from value_counter where shard = $1 and window_end <= $2
               order by shard, window_end limit $3 for update skip locked
             ))
             returning 1`,
      values: [shard, timestampParam(endedBy), rows],
    })
    return removed.length
  })
}
