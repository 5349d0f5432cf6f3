import type { UnliftedPause } from '../pauses/pause.ts'
import {
  isLive,
  overageOf,
  type Quota,
  type QuotaStatus,
  remainingOf,
  roll,
  shownWindowEnd,
  statusOf,
} from '../quotas/quota.ts'
import { type EpochMs, formatTimestamp, formatTimestampOrNull } from '../time/time.ts'
import type { Forecast } from './forecast.ts'
import { type Sending, sendingOf } from './sending.ts'

/**
 * A user's totals at `now`, as the API shows them. `quotas` are the user's undeleted, unexpired quotas, on which every
 * number depends, and `expired` counts the expired ones; both come from one snapshot. `ahead` is their
 * forecast. `paused` are the pauses that hold for the user; no other number depends on them.
 *
 * `limit` is the sum of the current windows' limits and of what they rolled over, so that in the totals and in every row
 * limit + overage = used + reserved + remaining. `limit` and `remaining` are null if any grant is unlimited.
 */
export function summarize(
  userId: number,
  quotas: readonly Quota[],
  expired: number,
  ahead: Forecast | null,
  paused: readonly UnliftedPause[],
  now: EpochMs,
) {
  const rolled = quotas.map(quota => roll(quota, now).quota)
  const live = rolled.filter(quota => isLive(quota, now))
  const grants = live.filter(quota => quota.kind === 'grant')
  // What one value has left says nothing of the others.
  const caps = live.filter(quota => quota.kind === 'cap' && quota.per === null)
  const unlimited = grants.some(quota => quota.limit === null)
  const sending = sendingOf(userId, rolled, now)
  return {
    user_id: userId,
    as_of: formatTimestamp(now),
    ...totalsOf(grants),
    overage: sum(grants, overageOf),
    unlimited,
    ...sendingView(sending),
    available_until: sending.available_until && {
      ...sending.available_until,
      at: formatTimestamp(sending.available_until.at),
    },
    scopes: sending.scopes.map(({ countries, message_types, ...answer }) => ({
      countries,
      message_types,
      ...sendingView(answer),
    })),
    paused: paused.map(({ id, country, message_types, until }) => ({
      id,
      country,
      message_types,
      until: formatTimestampOrNull(until),
    })),
    by_status: countStatuses(rolled, expired, now),
    next_reset: nextReset(grants),
    next_expiry: nextExpiry(grants),
    caps: caps.map(cap => ({
      quota_id: cap.id,
      name: cap.name,
      limit: cap.limit,
      used: cap.used,
      reserved: cap.reserved,
      remaining: remainingOf(cap),
      window_end: formatTimestampOrNull(shownWindowEnd(cap)),
      period: cap.period,
      anchor: cap.anchor,
      time_zone: cap.time_zone,
      counts: cap.counts,
      countries: cap.countries,
      message_types: cap.message_types,
      alert_at: cap.alert_at,
    })),
    breakdown: breakdownOf(grants),
    forecast: ahead,
  }
}

function totalsOf(grants: readonly Quota[]) {
  const unlimited = grants.some(grant => grant.limit === null)
  return {
    limit: unlimited ? null : sum(grants, grant => (grant.limit ?? 0) + grant.rolled_over),
    used: sum(grants, grant => grant.used),
    reserved: sum(grants, grant => grant.reserved),
    remaining: unlimited ? null : sum(grants, grant => remainingOf(grant) ?? 0),
  }
}

function sendingView({ available, denial }: Sending) {
  return { available, denial: denial && { ...denial, retry_at: formatTimestampOrNull(denial.retry_at) } }
}

function countStatuses(quotas: readonly Quota[], expired: number, now: EpochMs): Partial<Record<QuotaStatus, number>> {
  const counts: Partial<Record<QuotaStatus, number>> = expired > 0 ? { expired } : {}
  for (const quota of quotas) {
    const status = statusOf(quota, now)
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

/** The next reset of limited grants, and by how much their remaining units grow then. */
function nextReset(grants: readonly Quota[]) {
  const resetting = grants.filter(
    grant => grant.limit !== null && grant.window_end !== null && shownWindowEnd(grant) !== grant.expires_at,
  )
  const next = earliest(resetting, grant => grant.window_end)
  return next && { at: formatTimestamp(next.at), units: sum(next.grants, grant => restoredAt(grant, next.at)) }
}

/** By how much the remaining units of a limited grant grow when it is rolled to `at`. */
function restoredAt(grant: Quota, at: EpochMs): number {
  return Math.max(0, (remainingOf(roll(grant, at).quota) ?? 0) - (remainingOf(grant) ?? 0))
}

/** The next expiry of grants, and their remaining units, which are lost then; null units if one is unlimited. */
function nextExpiry(grants: readonly Quota[]) {
  const next = earliest(grants, grant => grant.expires_at)
  return next && { at: formatTimestamp(next.at), units: totalsOf(next.grants).remaining }
}

/** The earliest of the grants' times, and the grants that have it; null if no grant has a time. */
function earliest(grants: readonly Quota[], timeOf: (grant: Quota) => EpochMs | null) {
  const at = Math.min(...grants.map(grant => timeOf(grant) ?? Number.POSITIVE_INFINITY))
  return Number.isFinite(at) ? { at, grants: grants.filter(grant => timeOf(grant) === at) } : null
}

/** One row per scope of the live grants, including the empty scope. The rows add up to the totals. */
function breakdownOf(grants: readonly Quota[]) {
  const scopes = Map.groupBy(grants, grant => JSON.stringify([grant.countries, grant.message_types]))
  return [...scopes.values()].map(scope => ({
    countries: scope[0]?.countries ?? null,
    message_types: scope[0]?.message_types ?? null,
    ...totalsOf(scope),
  }))
}

function sum(quotas: readonly Quota[], unitsOf: (quota: Quota) => number): number {
  return quotas.reduce((total, quota) => total + unitsOf(quota), 0)
}
