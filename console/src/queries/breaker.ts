import { MAX_PAGE_SIZE } from '../../../src/domain/basics/bounds.ts'
import type { Input } from '../api/operations.ts'
import { type BreakerValues, budgetsOf } from '../model/breaker-form.ts'
import { addReplayed, NOTHING_REPLAYED, type Replayed } from '../model/breaker-replay.ts'
import { call } from '../session/client.ts'
import type { Job } from './many.ts'

/** What the breaker against pumped codes would have done. */

/** What is replayed: settings that need not be saved. */
export interface AskedReplay {
  values: BreakerValues
  days: number
  message_type: string | undefined
}

/** Replays the past page by page. What the settings let pass is left out here. */
export function replayJob({ values, days, message_type }: AskedReplay): Job<Replayed> {
  let replayed = NOTHING_REPLAYED
  let next: Input<'GET /admin/breaker/replay'>['query'] = { ...budgetsOf(values), days, message_type }
  return async ({ report, signal }) => {
    for (let isLast = false; !isLast; ) {
      const query = { ...next, page_size: MAX_PAGE_SIZE }
      const page = await call('GET /admin/breaker/replay', { query, signal })
      replayed = addReplayed(replayed, page, values)
      next = { cursor: page.next_cursor }
      isLast = page.next_cursor === null
      report(replayed)
    }
  }
}
