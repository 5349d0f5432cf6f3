import type { Api } from '../api/types.ts'

/** When quotas that a page shows are next different by themselves. */

type Quota = Pick<Api['SmsQuota'], 'status' | 'window_start' | 'window_end'>

/** The service may answer a little before its window ends, by the browser's clock. */
const MARGIN_MS = 1_000

/** While the browser's clock is ahead: a window has ended here and not yet at the service. */
const AHEAD_MS = 30_000

/** Browsers take longer timers for none. */
const MAX_MS = 24 * 3_600_000

/**
 * How long until the first of these quotas starts or its window ends, so that the page reads it again; false if none does.
 *
 * @param now epoch milliseconds
 */
export function untilNextWindow(quotas: readonly Quota[], now: number): number | false {
  const times = quotas.map(boundaryOf).filter(at => at !== null)
  if (times.length === 0) return false
  const first = Math.min(...times.map(Date.parse))
  return first <= now - MARGIN_MS ? AHEAD_MS : Math.min(MAX_MS, first - now + MARGIN_MS)
}

function boundaryOf({ status, window_start, window_end }: Quota): string | null {
  if (status === 'expired' || status === 'deleted') return null
  return status === 'scheduled' ? window_start : window_end
}
