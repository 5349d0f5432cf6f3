import type { Correction } from '../../domain/draft.ts'
import { bigints } from './arrays.ts'
import { guardedUpdate } from './statement.ts'

/** Changes the counters of windows closed earlier, in which reservations settle late. Windows have no `seq`. */
export const correctWindows = guardedUpdate<Correction>(
  'correct-windows',
  {
    quota_id: bigints(window => window.quota_id),
    window_no: bigints(window => window.window_no),
    used: bigints(window => window.used),
    reserved: bigints(window => window.reserved),
  },
  ({ shard, k }) => `update quota_window w set used = w.used + k.used, reserved = w.reserved + k.reserved
    from ${k}
    where w.shard = ${shard} and w.quota_id = k.quota_id and w.window_no = k.window_no`,
)
