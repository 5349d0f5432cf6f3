import type { ClosedWindow } from '../../domain/quotas/quota.ts'
import type { Correction } from '../../domain/units/draft.ts'
import { sql } from '../connection/sql.ts'
import { bigints, timestamps } from './arrays.ts'
import { WINDOW_KEY } from './keys.ts'
import { guardedUpdate, ledgerStatement } from './statement.ts'

/** Adds the windows that a batch closed to the history. No guard: a window that is there already violates its key. */
export const closeWindows = ledgerStatement<ClosedWindow & { quota_id: number }>(
  'close-windows',
  {
    ...WINDOW_KEY,
    window_start: timestamps(window => window.window_start),
    window_end: timestamps(window => window.window_end),
    limit: bigints(window => window.limit),
    overage_limit: bigints(window => window.overage_limit),
    rolled_over: bigints(window => window.rolled_over),
    used: bigints(window => window.used),
    reserved: bigints(window => window.reserved),
    carried: bigints(window => window.carried),
  },
  ({ names, values, rows }) => sql`insert into quota_window (${names}) select ${values} from ${rows}`,
)

/** Changes the counters of windows closed earlier, in which reservations settle late. Windows have no `seq`. */
export const correctWindows = guardedUpdate<Correction>(
  'correct-windows',
  { ...WINDOW_KEY, used: bigints(window => window.used), reserved: bigints(window => window.reserved) },
  ({ k }) => sql`update quota_window w set used = w.used + k.used, reserved = w.reserved + k.reserved
    from ${k}
    where w.shard = k.shard and w.quota_id = k.quota_id and w.window_no = k.window_no`,
)
