import type { Allowance } from './quota.ts'

/** What of a quota decides which percents are reached. */
type Alertable = Pick<Allowance, 'limit' | 'rolled_over' | 'used' | 'alert_at' | 'alerted' | 'deleted_at'>

/**
 * The percents told in the quota's window, with those that it has reached by now: of limit + rolled_over, what is used
 * for good, for what is reserved may come back. The same list if there is nothing new.
 *
 * An unlimited quota reaches none. One whose limit is 0 reaches none while nothing is used, and then all at once.
 */
export function alertedBy(quota: Alertable): readonly number[] {
  const { limit, rolled_over, used, alert_at, alerted, deleted_at } = quota
  if (limit === null || used === 0 || deleted_at !== null) return alerted
  const hundredfold = used * 100
  const whole = limit + rolled_over
  const reached = (percent: number) => hundredfold >= percent * whole && !alerted.includes(percent)
  return alert_at.some(reached) ? [...alerted, ...alert_at.filter(reached)].sort((one, other) => one - other) : alerted
}

/** The percents to be told of a change: those that are new in the window the quota stands in now. Ascending. */
export function newAlerts(
  before: Pick<Allowance, 'window_no' | 'alerted'> | null,
  after: Pick<Allowance, 'window_no' | 'alerted'>,
): readonly number[] {
  if (before === null || after.window_no !== before.window_no) return after.alerted
  return after.alerted === before.alerted ? [] : after.alerted.filter(percent => !before.alerted.includes(percent))
}
