import type { ValidationIssue } from '../../errors.ts'
import { UnknownValue } from '../basics/unknown-value.ts'
import { anchorError } from '../time/anchor.ts'
import { calendarOf, PERIODS } from '../time/period.ts'
import type { EpochMs } from '../time/time.ts'
import { boundariesBetween, lastBoundary, nextBoundary } from '../time/window.ts'
import { alertedBy, marksAfterChange } from './alerts.ts'
import { type FormerSlot, planAfterHand, type QuotaPlan } from './quota-plan.ts'
import { asStored, immutableIssues, issuesOf, openingIssues } from './quota-rules.ts'
import {
  COUNTED_VALUES,
  COUNTS,
  type DetailName,
  defaultsFor,
  isDeepEqual,
  QUOTA_KINDS,
  type QuotaIdentity,
  type QuotaSettings,
} from './quota-settings.ts'

/** A quota's current window, and what was drawn in it. */
interface QuotaCounters {
  window_no: number
  window_start: EpochMs
  /** The calendar's boundary, fixed when the window opened; null for a quota without a period. */
  window_end: EpochMs | null
  used: number
  reserved: number
  rolled_over: number
  /** The marks reached in this window (ascending): emitted percents of `alert_at`, and `EXHAUSTED`. */
  alerted: readonly number[]
}

/**
 * The fields of a quota that decisions about units depend on, its counters included; the engine keeps these in memory.
 * `Quota` adds the settings that do not decide, and the audit fields.
 */
export interface Allowance extends QuotaIdentity, Omit<QuotaSettings, DetailName>, QuotaCounters {
  id: number
  created_at: EpochMs
  deleted_at: EpochMs | null
}

export interface Quota extends Allowance, QuotaSettings {
  /** Whether an administrator's change has emitted `quota.expired` for the current expiry: the notifier does not. */
  expiry_emitted: boolean
  /** The day and the time of the first end, which the ends of repeated extensions keep to; null: those of the end itself. */
  expiry_anchor: string | null
  /** The plan that the quota is of; null: it is the user's own. */
  plan: QuotaPlan | null
  /** What it was before its plan ended it; null: it is of a plan, or was of none. */
  former: FormerSlot | null
  /** Grows by one with each administrator's change that changes something. */
  version: number
  created_by: string
  updated_at: EpochMs
  updated_by: string
}

export const QUOTA_STATUSES = ['deleted', 'expired', 'suspended', 'scheduled', 'exhausted', 'active'] as const
export type QuotaStatus = (typeof QUOTA_STATUSES)[number]

/** A request to create a quota. Omitted fields take their defaults. */
export type QuotaDraft = Pick<QuotaIdentity, 'user_id'> &
  Pick<QuotaSettings, 'limit'> &
  Partial<Omit<QuotaIdentity, 'user_id'> & Omit<QuotaSettings, 'limit'>> & {
    /** Units already used elsewhere in the first window; units past the limit are overage. */
    opening_used?: number
  }

/** A requested change. Omitted fields stay as they are; immutable fields may be named with their current values. */
export type QuotaPatch = Partial<QuotaIdentity & QuotaSettings> & { allow_below_usage?: boolean }

export type QuotaChange =
  | { outcome: 'changed'; quota: Quota; closed: ClosedWindow[] }
  | { outcome: 'unchanged' }
  | { outcome: 'invalid'; issues: ValidationIssue[] }
  | { outcome: 'immutable_field'; issues: ValidationIssue[] }
  | { outcome: 'below_usage'; detail: string }
  | { outcome: 'unknown_value'; cause: UnknownValue }

/** A past window of a quota. */
export interface ClosedWindow {
  window_no: number
  window_start: EpochMs
  window_end: EpochMs
  limit: number | null
  overage_limit: number
  rolled_over: number
  used: number
  reserved: number
  /** Units it carried into the next window. */
  carried: number
}

/** The status, derived at each read and never stored; the first match wins. `quota` must be rolled to `now`. */
export function statusOf(quota: Allowance, now: EpochMs): QuotaStatus {
  if (quota.deleted_at !== null) return 'deleted'
  if (quota.expires_at !== null && quota.expires_at <= now) return 'expired'
  if (!quota.enabled) return 'suspended'
  if (quota.starts_at > effectiveTime(quota, now)) return 'scheduled'
  // One that counts each value by itself has room for others.
  return quota.per === null && headroomOf(quota) <= 0 ? 'exhausted' : 'active'
}

/**
 * The time at which a quota is judged. If this process's clock lags behind a window that another process opened, the
 * window's start counts; the same holds for a quota that began when it was created. Otherwise a new cap would not hold
 * until the clock catches up, although its creation was confirmed.
 */
export function effectiveTime(quota: Allowance, now: EpochMs): EpochMs {
  const isOpen = quota.window_no > 0 || quota.starts_at <= quota.created_at
  return isOpen ? Math.max(now, quota.window_start) : now
}

/** Whether a quota is not deleted, enabled, started and not expired, judged as for messages. An exhausted quota is live. */
export function isLive(quota: Allowance, now: EpochMs): boolean {
  const status = statusOf(quota, effectiveTime(quota, now))
  return status === 'active' || status === 'exhausted'
}

/** Whether a quota covers every destination and message type. */
export function isUnscoped({ countries, message_types }: Allowance): boolean {
  return countries === null && message_types === null
}

/** Whether a cap bounds units of all messages together: what others let pass is no number of units. */
export function boundsUnits({ per, counts }: Pick<Allowance, 'per' | 'counts'>): boolean {
  return per === null && counts === 'units'
}

/** Units left in the window without overage; negative when overdrawn, Infinity when unlimited. */
export function balanceOf(quota: Allowance): number {
  if (quota.limit === null) return Number.POSITIVE_INFINITY
  return quota.limit + quota.rolled_over - quota.used - quota.reserved
}

/** Units that may still be drawn in this window, overage included; Infinity when unlimited. */
export function headroomOf(quota: Allowance): number {
  return balanceOf(quota) + quota.overage_limit
}

/** `remaining` as the API shows it: never below 0; null when unlimited, or counted for each value by itself. */
export function remainingOf(quota: Allowance): number | null {
  return quota.limit === null || quota.per !== null ? null : Math.max(0, balanceOf(quota))
}

/** Units drawn past the limit. */
export function overageOf(quota: Allowance): number {
  return quota.limit === null ? 0 : Math.max(0, -balanceOf(quota))
}

/**
 * `window_end` as the API shows it: the earlier of the calendar's next boundary and the expiry. An expiry that was moved to
 * before the window's start does not cut the window, which keeps its boundary: windows never go back, and this one was
 * open until the change.
 */
export function shownWindowEnd({ window_start, window_end, expires_at }: Allowance): EpochMs | null {
  if (expires_at === null || (expires_at <= window_start && window_end !== null)) return window_end
  return Math.min(window_end ?? expires_at, expires_at)
}

/** What this version of the service does not know of a quota; null if it knows all. */
export function unknownIn({ id, kind, period, anchor, per, counts }: Allowance): UnknownValue | null {
  if (!QUOTA_KINDS.includes(kind)) return new UnknownValue(`the kind of quota ${id}`, kind)
  if (per !== null && !COUNTED_VALUES.includes(per)) return new UnknownValue(`per of quota ${id}`, per)
  if (!COUNTS.includes(counts)) return new UnknownValue(`what quota ${id} counts`, counts)
  if (period !== null && !PERIODS.includes(period)) return new UnknownValue(`the period of quota ${id}`, period)
  return anchorError(period, anchor) === null ? null : new UnknownValue(`the anchor of quota ${id}`, anchor)
}

/**
 * Brings a quota to the window that contains `now`. Every write does this first and every read shows the result, so
 * no job has to run at midnight.
 *
 * Each closing window carries its unused units, at most `rollover_limit`, into the next, and so does each window without
 * any command in between. Overage is not carried. A deleted quota never rolls, and an expired one stays in its last
 * window. A `now` before the window's start changes nothing.
 *
 * A cap that counts each value by itself has the window that the calendar has at `now`: its counters are elsewhere, and no row of it is
 * written when a window ends.
 *
 * @throws UnknownValue for a quota of which this version does not know all
 */
export function roll<Q extends Allowance>(quota: Q, now: EpochMs): { quota: Q; closed: ClosedWindow | null } {
  const unknown = unknownIn(quota)
  if (unknown !== null) throw unknown
  if (quota.per !== null) {
    const at = quota.deleted_at === null ? now : Math.min(now, quota.deleted_at)
    return { quota: { ...quota, ...firstWindow(quota, at) }, closed: null }
  }
  const calendar = calendarOf(quota)
  if (calendar === null || quota.window_end === null || quota.deleted_at !== null) return { quota, closed: null }
  const at = quota.expires_at === null ? now : Math.min(now, quota.expires_at - 1)
  if (at < quota.window_end) return { quota, closed: null }

  const idleWindows = boundariesBetween(calendar, quota.window_end, at)
  const limit = quota.limit ?? 0
  const carried = quota.limit === null ? 0 : Math.min(quota.rollover_limit, Math.max(0, balanceOf(quota)))
  return {
    quota: {
      ...quota,
      window_no: quota.window_no + 1 + idleWindows,
      // Time zone rules may have changed since the window opened: its end, once fixed, is where the next begins.
      window_start: Math.max(quota.window_end, lastBoundary(calendar, at)),
      window_end: nextBoundary(calendar, at),
      used: 0,
      reserved: 0,
      rolled_over: Math.min(quota.rollover_limit, carried + idleWindows * limit),
      alerted: [],
    },
    closed: {
      window_no: quota.window_no,
      window_start: quota.window_start,
      window_end: quota.window_end,
      limit: quota.limit,
      overage_limit: quota.overage_limit,
      rolled_over: quota.rolled_over,
      used: quota.used,
      reserved: quota.reserved,
      carried,
    },
  }
}

/**
 * Creates a quota. If it starts in the past, its first window is the one that contains `now`, and nothing is rolled
 * over. Returns every rule that the draft breaks instead.
 */
export function createQuota(
  draft: QuotaDraft,
  { id, now, actor }: { id: number; now: EpochMs; actor: string },
): { quota: Quota } | { issues: ValidationIssue[] } {
  const { opening_used: used = 0, ...named } = draft
  const definition = { ...defaultsFor(named), starts_at: now, ...named }
  const issues = [...issuesOf(definition), ...openingIssues(definition, used)]
  if (issues.length > 0) return { issues }
  const quota: Quota = {
    ...definition,
    ...firstWindow(definition, now),
    window_no: 0,
    used,
    reserved: 0,
    rolled_over: 0,
    alerted: [],
    expiry_emitted: false,
    expiry_anchor: null,
    plan: null,
    former: null,
    id,
    version: 1,
    created_at: now,
    created_by: actor,
    updated_at: now,
    updated_by: actor,
    deleted_at: null,
  }
  return { quota: markEmitted(quota, now) }
}

/**
 * Applies a change to a quota that is not deleted. Omitted fields stay as they are.
 *
 * @param plan of the quota, if its plan makes the change; else an administrator does, whose changes the plan keeps
 */
export function changeQuota(
  current: Quota,
  patch: QuotaPatch,
  { now, actor }: { now: EpochMs; actor: string },
  plan?: QuotaPlan | null,
): QuotaChange {
  const { allow_below_usage: allowBelowUsage = false, ...asked } = patch
  const fields = asStored(asked, current)
  const unknown = unknownIn(current)
  if (unknown !== null) return { outcome: 'unknown_value', cause: unknown }
  const frozen = immutableIssues(current, fields, now)
  if (frozen.length > 0) return { outcome: 'immutable_field', issues: frozen }

  const requested: Quota = { ...current, ...fields, plan: plan === undefined ? planAfterHand(current, fields) : plan }
  // A later end is a new first one. An earlier one may be that before an extension, taken back.
  if (isLater(requested.expires_at, current.expires_at)) requested.expiry_anchor = null
  const issues = issuesOf(requested)
  if (issues.length > 0) return { outcome: 'invalid', issues }
  if (isDeepEqual(requested, current)) return { outcome: 'unchanged' }

  // The windows up to now close under the old definition. If the expiry moved to later, more windows open after that.
  const before = roll(current, now)
  // A new start moves the first window, with its counters.
  const window = requested.starts_at === current.starts_at ? {} : firstWindow(requested, now)
  const derived = { expiry_anchor: requested.expiry_anchor, plan: requested.plan }
  const after = roll({ ...before.quota, ...fields, ...window, ...derived }, now)
  const changed = { ...after.quota, version: current.version + 1, updated_at: now, updated_by: actor }
  const quota = markEmitted({ ...changed, alerted: marksAfterChange(before.quota, changed) }, now)

  const limitsChanged = requested.limit !== current.limit || requested.overage_limit !== current.overage_limit
  const addsRoom = roomOf(requested) > roomOf(current)
  if (limitsChanged && !addsRoom && !allowBelowUsage && headroomOf(quota) < 0) {
    const taken = quota.used + quota.reserved
    return {
      outcome: 'below_usage',
      detail: `${taken} units of this window are used or reserved, more than the new limits allow. Send "allow_below_usage": true to set them anyway; no units are taken back.`,
    }
  }
  return { outcome: 'changed', quota, closed: [before.closed, after.closed].filter(window => window !== null) }
}

function isLater(end: EpochMs | null, before: EpochMs | null): boolean {
  return before !== null && (end === null || end > before)
}

/** Units that a window can hold without what rolled over; Infinity when unlimited. */
function roomOf({ limit, overage_limit }: QuotaSettings): number {
  return (limit ?? Number.POSITIVE_INFINITY) + overage_limit
}

/**
 * Marks what the change itself reaches: alert thresholds and exhaustion, and an expiry. A quota whose expiry moves
 * to later is unmarked, so that its next expiry is emitted again.
 */
function markEmitted(quota: Quota, now: EpochMs): Quota {
  return { ...quota, alerted: alertedBy(quota), expiry_emitted: statusOf(quota, now) === 'expired' }
}

/** Marks a quota deleted, in the window that contains `now`. */
export function deleteQuota(
  current: Quota,
  { now, actor }: { now: EpochMs; actor: string },
): { quota: Quota; closed: ClosedWindow[] } {
  const { quota, closed } = roll(current, now)
  return {
    quota: { ...quota, version: quota.version + 1, updated_at: now, updated_by: actor, deleted_at: now },
    closed: closed === null ? [] : [closed],
  }
}

/** The first window of a quota: the one that contains `now`, limited to the time from its start to its expiry. */
function firstWindow(
  definition: Pick<Quota, 'period' | 'anchor' | 'time_zone' | 'starts_at' | 'expires_at'>,
  now: EpochMs,
): Pick<QuotaCounters, 'window_start' | 'window_end'> {
  const { starts_at, expires_at } = definition
  const calendar = calendarOf(definition)
  if (calendar === null) return { window_start: starts_at, window_end: null }
  const at = Math.max(starts_at, Math.min(now, expires_at === null ? now : expires_at - 1))
  return {
    window_start: Math.max(starts_at, lastBoundary(calendar, at)),
    window_end: nextBoundary(calendar, at),
  }
}
