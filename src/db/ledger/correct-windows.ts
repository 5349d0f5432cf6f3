import type { Correction } from '../../domain/draft.ts'
import { sql } from '../connection/sql.ts'
import { bigints } from './arrays.ts'
import { WINDOW_KEY } from './keys.ts'
import { guardedUpdate } from './statement.ts'

/** Changes the counters of windows closed earlier, in which reservations settle late. Windows have no `seq`. */
export const correctWindows = guardedUpdate<Correction>(
  'correct-windows',
  { ...WINDOW_KEY, used: bigints(window => window.used), reserved: bigints(window => window.reserved) },
  ({ k }) => sql`update quota_window w set used = w.used + k.used, reserved = w.reserved + k.reserved
    from ${k}
    where w.shard = k.shard and w.quota_id = k.quota_id and w.window_no = k.window_no`,
)
