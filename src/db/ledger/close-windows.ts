import type { ClosedWindow } from '../../domain/quota.ts'
import { bigints, timestamps } from './arrays.ts'
import { ledgerStatement } from './statement.ts'

/** Adds the windows that a batch closed to the history. No guard: a window that is there already violates its key. */
export const closeWindows = ledgerStatement<ClosedWindow & { quota_id: number }>(
  'close-windows',
  {
    quota_id: bigints(window => window.quota_id),
    window_no: bigints(window => window.window_no),
    window_start: timestamps(window => window.window_start),
    window_end: timestamps(window => window.window_end),
    limit: bigints(window => window.limit),
    overage_limit: bigints(window => window.overage_limit),
    rolled_over: bigints(window => window.rolled_over),
    used: bigints(window => window.used),
    reserved: bigints(window => window.reserved),
    carried: bigints(window => window.carried),
  },
  ({ shard, names, arrays }) => `insert into quota_window (shard, ${names})
    select ${shard}::smallint, * from unnest(${arrays})`,
)
