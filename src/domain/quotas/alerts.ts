/** The fields of a quota that decide which marks it has reached. */
interface Alertable {
  limit: number | null
  overage_limit: number
  rolled_over: number
  used: number
  reserved: number
  alert_at: readonly number[]
  alerted: readonly number[]
  deleted_at: number | null
  /** Not null: it counts each value by itself, and reaches no mark. */
  per?: string | null
}

/** The fields of a quota that say which marks were reached in which window. */
interface Alerted {
  window_no: number
  alerted: readonly number[]
}

/**
 * The mark beside the percents in `alerted`: the quota had nothing left to draw, overage included. It is kept for the
 * lists of exhausted quotas. No event reports it, and the API shows it nowhere.
 */
export const EXHAUSTED = 101

/**
 * The marks reached in the quota's window: thresholds (percents) and `EXHAUSTED`, those reached before and those reached
 * now. Returns the same array if there is no new one. A mark stays when units come back, so that each is written once per
 * window and limit: see `marksAfterChange`. A percent counts `used` alone against limit + rolled_over, because reserved units may come back.
 *
 * An unlimited quota reaches none. A quota with limit 0 reaches no percent while nothing is used, and then all of them.
 */
export function alertedBy(quota: Alertable): readonly number[] {
  const { limit, rolled_over, used, alert_at, alerted, deleted_at, per = null } = quota
  if (limit === null || deleted_at !== null || per !== null) return alerted
  const isNew = (percent: number) => isReached(quota, percent) && !alerted.includes(percent)
  const isExhausted =
    (used + quota.reserved >= limit + rolled_over + quota.overage_limit || hasNoUnits(quota)) &&
    !alerted.includes(EXHAUSTED)
  if (!isExhausted && !alert_at.some(isNew)) return alerted
  return [...alerted, ...alert_at.filter(isNew), ...(isExhausted ? [EXHAUSTED] : [])].sort((one, other) => one - other)
}

/** Whether `used` alone is at a percent of limit + rolled_over. */
function isReached({ limit, rolled_over, used }: Alertable, percent: number): boolean {
  return limit !== null && used > 0 && used * 100 >= percent * (limit + rolled_over)
}

/**
 * The marks that are left after a change of the quota, in the same window. One that adds units takes away the percents that are above
 * the used share now, so that they are emitted again when they are reached again: a pack that is topped up warns before each of its ends.
 */
export function marksAfterChange(before: Alertable, after: Alertable): readonly number[] {
  if (totalOf(after) <= totalOf(before)) return after.alerted
  return after.alerted.filter(mark => mark === EXHAUSTED || isReached(after, mark))
}

const totalOf = ({ limit, rolled_over }: Alertable) => (limit ?? Number.POSITIVE_INFINITY) + rolled_over

/**
 * Whether a quota gets no units from any window of its own. It is exhausted from window to window without a further
 * write; at the latest when what an earlier window carried over is used up or lapses.
 */
export function hasNoUnits({ limit, overage_limit }: Pick<Alertable, 'limit' | 'overage_limit'>): boolean {
  return limit === 0 && overage_limit === 0
}

/**
 * The share of limit + rolled_over that is used, in millionths: 1,000,000 is all of it. A quota that is unlimited or unused
 * uses none of it.
 */
export function usedShareOf({ limit, rolled_over, used }: Pick<Alertable, 'limit' | 'rolled_over' | 'used'>): number {
  if (limit === null || used === 0) return 0
  return Math.min(Math.floor((used / (limit + rolled_over)) * 1_000_000), Number.MAX_SAFE_INTEGER)
}

/** The marks that a change writes: those new in the quota's current window. Ascending. */
export function newAlerts(before: Alerted | null, after: Alerted): readonly number[] {
  if (before === null || after.window_no !== before.window_no) return after.alerted
  return after.alerted === before.alerted ? [] : after.alerted.filter(percent => !before.alerted.includes(percent))
}
