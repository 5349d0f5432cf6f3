/** Removes deleted quotas, with everything that belongs to them. */

import type { Shard } from '../../domain/basics/shard.ts'
import { requireKnown } from '../../domain/basics/unknown-value.ts'
import { QUOTA_KINDS, type QuotaKind } from '../../domain/quotas/quota-settings.ts'
import type { Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlName } from '../connection/sql.ts'
import { TOTALS } from './conditions.ts'

/**
 * Tables that are found by shard and quota_id, in the order in which they are removed, beside windows and the archive, which go together.
 * Transfers come after the history, without which `verify` expects nothing of them.
 */
const TABLES_OF_QUOTA = ['quota_change', 'quota_alert', 'transfer', 'value_counter'] as const

export interface RemovedRows {
  /** The number of rows that were removed, by table. */
  rows: Record<string, number>
  /** Whether the quota is gone. If not, more of it is left. */
  isDone: boolean
}

/** A window goes with its part of the archive, in one statement: each is the other's proof. */
const REMOVE_WINDOWS = sql`
  with old as materialized (
    select window_no from quota_window where shard = $1 and quota_id = $2 order by window_no limit $3
  ), unarchived as (
    delete from archive a using old where a.shard = $1 and a.quota_id = $2 and a.window_no = old.window_no
  ), removed as (
    delete from quota_window w using old where w.shard = $1 and w.quota_id = $2 and w.window_no = old.window_no
    returning 1
  )
  select count(*) as removed from removed`

/**
 * Removes up to `rows` windows, changes and marks each of a deleted quota, and the quota itself if that is all. No reservation may
 * draw on it any more. To be called in a transaction with `BY_KEYS`, as its last statements: it may lock the totals of the
 * shard.
 */
export async function removeQuota(tx: Transaction, shard: Shard, id: number, rows: number): Promise<RemovedRows> {
  const removed: Record<string, number> = {
    quota_window: await countOf(tx, 'remove-windows', REMOVE_WINDOWS, [shard, id, rows]),
  }
  for (const table of TABLES_OF_QUOTA) {
    removed[table] = await removeFrom(tx, table, shard, id, rows)
    if (removed[table] >= rows) return { rows: removed, isDone: false }
  }
  if ((removed.quota_window ?? 0) >= rows) return { rows: removed, isDone: false }

  const values = [shard, id]
  await tx.query({ name: 'remove-archive', text: sql`delete from archive where shard = $1 and quota_id = $2`, values })
  const [quota] = await tx.query<{ kind: QuotaKind }>({
    name: 'remove-quota',
    text: sql`delete from quota where shard = $1 and id = $2 and deleted_at is not null returning kind`,
    values,
  })
  if (quota !== undefined) {
    const total = TOTALS.deleted[requireKnown(`the kind of quota ${id}`, QUOTA_KINDS, quota.kind)]
    await tx.query({
      text: sql`update shard_head set ${total} = ${total} - 1 where shard = $1`,
      values: [shard],
    })
    removed.quota = 1
  }
  return { rows: removed, isDone: true }
}

function removeFrom(
  tx: Transaction,
  table: (typeof TABLES_OF_QUOTA)[number],
  shard: Shard,
  id: number,
  rows: number,
): Promise<number> {
  const text = sql`
    with removed as (
      delete from ${sqlName(table)} where shard = $1
        and ctid = any(array(select ctid from ${sqlName(table)} where shard = $1 and quota_id = $2 limit $3))
      returning 1
    ) select count(*) as removed from removed`
  return countOf(tx, `remove-${table}`, text, [shard, id, rows])
}

async function countOf(tx: Transaction, name: string, text: Sql, values: number[]): Promise<number> {
  const [row] = await tx.query<{ removed: number }>({ name, text, values })
  return row?.removed ?? 0
}
