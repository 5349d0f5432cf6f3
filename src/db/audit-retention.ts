/** Removes old changes by administrators. The records of erasures stay. */
import type { EpochMs } from '../domain/time.ts'
import type { Database } from './database.ts'
import { BY_KEYS } from './planner-settings.ts'
import { timestampParam } from './values.ts'

/** The tables of changes, and what they are changes of. */
const KEYS = { quota_change: 'quota_id', webhook_change: 'webhook_id' } as const

export type ChangeTable = keyof typeof KEYS
export const CHANGE_TABLES: readonly ChangeTable[] = ['quota_change', 'webhook_change']

/**
 * Removes a page of the changes at `cutoff` and before, oldest first. Resolves to how many it removed: fewer than `rows` if
 * none is left, or another transaction has locked the others.
 */
export function removeOldChanges(db: Database, table: ChangeTable, cutoff: EpochMs, rows: number): Promise<number> {
  const key = ['shard', KEYS[table], 'version']
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [page] = await tx.query<{ removed: number }>({
      name: `remove-old-${table}`,
      text: `with page as materialized (
               select ${key.join(', ')} from ${table} where at <= $1
               order by ${['at', ...key].join(', ')} limit $2 for update skip locked
             ), removed as (
               delete from ${table} c using page p where ${key.map(column => `c.${column} = p.${column}`).join(' and ')}
               returning 1
             )
             select count(*) as removed from removed`,
      values: [timestampParam(cutoff), rows],
    })
    return page?.removed ?? 0
  })
}
