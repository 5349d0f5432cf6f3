/** Removes old changes by administrators. The records of erasures stay. */
import type { Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Database } from '../connection/database.ts'
import { sql, sqlName } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { CHANGE_LOGS, type LoggedResource } from './logs.ts'

/**
 * Removes a page of the changes at `cutoff` and before, oldest first. Resolves to how many it read: fewer than `rows` if
 * none is left behind them. 0: there is none, or another transaction has locked or removed them all.
 */
export function removeOldChanges(
  db: Database,
  resource: LoggedResource,
  cutoff: EpochMs,
  rows: number,
): Promise<number> {
  const log = CHANGE_LOGS[resource]
  const [table, id] = [sqlName(log.table), sqlName(log.id)]
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const page = await tx.query<{ shard: Shard; id: number; version: number }>({
      text: sql`select shard, ${id} as id, version from ${table} where at <= $1 order by at, shard, ${id}, version limit $2`,
      values: [timestampParam(cutoff), rows],
    })
    if (page.length === 0) return 0
    const removed = await runPerCitusShard(
      tx,
      page,
      ({ shard }) => shard,
      part =>
        tx.query({
          text: sql`with locked as materialized (
                   select c.shard, c.${id} as id, c.version
                   from unnest($1::smallint[], $2::bigint[], $3::bigint[]) p (shard, id, version)
                   join ${table} c on c.shard = p.shard and c.${id} = p.id and c.version = p.version
                   where true ${shardFilter(tx, sql`c.shard`, sql`$1`)} for update of c skip locked
                 )
                 delete from ${table} c using locked l
                 where c.shard = l.shard and c.${id} = l.id and c.version = l.version ${shardFilter(tx, sql`c.shard`, sql`$1`)}
                 returning 1`,
          values: [part.map(({ shard }) => shard), part.map(({ id: of }) => of), part.map(({ version }) => version)],
        }),
    )
    // A full page of which another process has removed a part does not mean that nothing is left.
    return removed.length === 0 ? 0 : page.length
  })
}
