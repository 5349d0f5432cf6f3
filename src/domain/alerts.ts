/** The fields of a quota that decide which alert thresholds it has reached. */
interface Alertable {
  limit: number | null
  rolled_over: number
  used: number
  alert_at: readonly number[]
  alerted: readonly number[]
  deleted_at: number | null
}

/** The fields of a quota that say which thresholds were reached in which window. */
interface Alerted {
  window_no: number
  alerted: readonly number[]
}

/**
 * The thresholds (percents) reached in the quota's window: those already emitted, and those reached now. Returns the
 * same array if there is no new one. A percent counts `used` alone against limit + rolled_over, because reserved units
 * may come back.
 *
 * An unlimited quota reaches none. A quota with limit 0 reaches none while nothing is used, and then all of them.
 */
export function alertedBy(quota: Alertable): readonly number[] {
  const { limit, rolled_over, used, alert_at, alerted, deleted_at } = quota
  if (limit === null || used === 0 || deleted_at !== null) return alerted
  const total = limit + rolled_over
  const isNew = (percent: number) => used * 100 >= percent * total && !alerted.includes(percent)
  return alert_at.some(isNew) ? [...alerted, ...alert_at.filter(isNew)].sort((one, other) => one - other) : alerted
}

/** The thresholds that a change emits: those new in the quota's current window. Ascending. */
export function newAlerts(before: Alerted | null, after: Alerted): readonly number[] {
  if (before === null || after.window_no !== before.window_no) return after.alerted
  return after.alerted === before.alerted ? [] : after.alerted.filter(percent => !before.alerted.includes(percent))
}
