import { namedValues } from '../basics/named-values.ts'
import {
  type ClosedWindow,
  overageOf,
  type Quota,
  remainingOf,
  roll,
  shownWindowEnd,
  statusOf,
} from '../quotas/quota.ts'
import {
  isTime,
  OWN_AS_READ_BY_USERS,
  type QuotaSettings,
  SETTING_NAMES,
  type SettingName,
  type TimeName,
} from '../quotas/quota-settings.ts'
import { type Rate, segmentsPaidBy } from '../rates/rate.ts'
import { type EpochMs, formatTimestamp, formatTimestampOrNull } from '../time/time.ts'
import type { UserProfile } from '../users/user-profile.ts'
import type { Authorship } from './authorship.ts'
import { type Draw, outstandingOf, type Reservation, stateOf, unfundedOf } from './reservation.ts'

/** A quota as the API shows it at `now`: rolled to `now`, with derived fields and without internal ones. */
export function viewOf(stored: Quota, now: EpochMs) {
  const { quota } = roll(stored, now)
  return {
    id: quota.id,
    user_id: quota.user_id,
    kind: quota.kind,
    period: quota.period,
    anchor: quota.anchor,
    time_zone: quota.time_zone,
    per: quota.per,
    counts: quota.counts,
    ...settingsViewOf(quota),
    used: quota.per === null ? quota.used : null,
    reserved: quota.per === null ? quota.reserved : null,
    rolled_over: quota.rolled_over,
    remaining: remainingOf(quota),
    overage: overageOf(quota),
    window_start: formatTimestamp(quota.window_start),
    window_end: formatTimestampOrNull(shownWindowEnd(quota)),
    status: statusOf(quota, now),
    plan: planViewOf(quota),
    version: quota.version,
    created_at: formatTimestamp(quota.created_at),
    created_by: quota.created_by,
    updated_at: formatTimestamp(quota.updated_at),
    updated_by: quota.updated_by,
  }
}

function planViewOf({ plan }: Quota) {
  if (plan === null) return null
  const { id, name, version, slot } = plan
  return { id, name, version, slot }
}

/** The settings as the API shows them: times as text. */
type SettingsView = {
  [Name in SettingName]: Name extends TimeName ? string | Extract<QuotaSettings[Name], null> : QuotaSettings[Name]
}

function settingsViewOf(quota: QuotaSettings): SettingsView {
  return namedValues<SettingsView>(SETTING_NAMES, name =>
    isTime(name) ? formatTimestampOrNull(quota[name]) : quota[name],
  )
}

/** A quota as its own user reads it: its authors, its metadata and the like are the administrators'. */
export function ownViewOf(stored: Quota, now: EpochMs) {
  return { ...viewOf(stored, now), ...OWN_AS_READ_BY_USERS, created_by: null, updated_by: null }
}

/** A user's profile as the API shows it. */
export function profileViewOf({ updated_at, ...profile }: UserProfile) {
  return { ...profile, updated_at: formatTimestampOrNull(updated_at) }
}

/** A reservation as the API shows it. */
export function reservationViewOf(reservation: Reservation) {
  return {
    id: reservation.id,
    user_id: reservation.user_id,
    state: stateOf(reservation),
    units: reservation.units,
    ...priceViewOf(reservation),
    committed: reservation.committed,
    released: reservation.released,
    refunded: reservation.refunded,
    unfunded: unfundedOf(reservation),
    verified: reservation.verified,
    draws: reservation.draws.map(drawViewOf),
    // Without outstanding units nothing can expire.
    expires_at: outstandingOf(reservation) > 0 ? formatTimestamp(reservation.expires_at) : null,
  }
}

/** The segments that a card has priced, as far as they were granted, and at which rate; null: no card has. */
function priceViewOf({ units, price }: Pick<Reservation, 'units' | 'price'>): {
  segments: number | null
  rate: Rate | null
} {
  if (price === undefined) return { segments: null, rate: null }
  const { segments: _, ...rate } = price
  return { segments: segmentsPaidBy(units, price), rate }
}

/** Who made and settled a reservation, as senders and administrators see it. */
export function authorshipViewOf({ made_by, settled_by, actions }: Authorship) {
  return { made_by, settled_by, actions: actions.map(({ at, ...action }) => ({ ...action, at: formatTimestamp(at) })) }
}

export function drawViewOf({ quota_id, kind, from, to, window_start }: Draw) {
  return { quota_id, kind, units: to - from, window_start: formatTimestamp(window_start) }
}

/**
 * A past window of a quota as the API shows it: limit + rolled_over + overage = used + reserved + carried + released,
 * unless a commit was forced into the window after it carried its units into the next.
 */
export function closedWindowViewOf(window: ClosedWindow) {
  const { window_start, window_end, limit, rolled_over, used, reserved, carried } = window
  const balance = limit === null ? null : limit + rolled_over - used - reserved
  return {
    ...window,
    window_start: formatTimestamp(window_start),
    window_end: formatTimestamp(window_end),
    released: balance === null ? null : Math.max(0, balance - carried),
    overage: balance === null ? 0 : Math.max(0, -balance),
  }
}
