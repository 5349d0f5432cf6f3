/** Removes old changes by administrators. The records of erasures stay. */
import type { Shard } from '../../domain/shard.ts'
import type { EpochMs } from '../../domain/time.ts'
import { runPerCitusShard } from '../cluster/parts.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { CHANGE_LOGS, type LoggedResource } from './logs.ts'

/**
 * Removes a page of the changes at `cutoff` and before, oldest first. Resolves to how many it removed: fewer than `rows` if
 * none is left, or another transaction has locked the others.
 */
export function removeOldChanges(
  db: Database,
  resource: LoggedResource,
  cutoff: EpochMs,
  rows: number,
): Promise<number> {
  const { id, table } = CHANGE_LOGS[resource]
  const key = [sql`shard`, sqlName(id), sql`version`]
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    if (tx.isCluster) return removeFromCluster(tx, resource, cutoff, rows)
    const [page] = await tx.query<{ removed: number }>({
      name: `remove-old-${table}`,
      text: sql`with page as materialized (
               select ${joinSql(key)} from ${sqlName(table)} where at <= $1
               order by ${joinSql([sql`at`, ...key])} limit $2 for update skip locked
             ), removed as (
               delete from ${sqlName(table)} c using page p where ${joinSql(
                 key.map(column => sql`c.${column} = p.${column}`),
                 sql` and `,
               )}
               returning 1
             )
             select count(*) as removed from removed`,
      values: [timestampParam(cutoff), rows],
    })
    return page?.removed ?? 0
  })
}

/** A cluster locks rows of one shard at a time, and changes none in a part of a statement. */
async function removeFromCluster(
  tx: Transaction,
  resource: LoggedResource,
  cutoff: EpochMs,
  rows: number,
): Promise<number> {
  const [table, id] = [sqlName(CHANGE_LOGS[resource].table), sqlName(CHANGE_LOGS[resource].id)]
  const page = await tx.query<{ shard: Shard; id: number; version: number }>({
    text: sql`select shard, ${id} as id, version from ${table} where at <= $1 order by at, shard, ${id}, version limit $2`,
    values: [timestampParam(cutoff), rows],
  })
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
                 where c.shard = any($1::smallint[]) for update of c skip locked
               )
               delete from ${table} c using locked l
               where c.shard = l.shard and c.${id} = l.id and c.version = l.version and c.shard = any($1::smallint[])
               returning 1`,
        values: [part.map(({ shard }) => shard), part.map(({ id }) => id), part.map(({ version }) => version)],
      }),
  )
  // A full page of which another process has removed a part does not mean that nothing is left.
  return removed.length === 0 ? 0 : page.length
}
