import type { Denied, DrawCommand } from './command.ts'
import { explain } from './explanation.ts'
import { type Capacity, drawableOf, type Matches, neededBy } from './matching.ts'
import { type Allowance, headroomOf, shownWindowEnd } from './quota.ts'
import type { DenialReason } from './reservation.ts'
import type { EpochMs } from './time.ts'

export function denialReasonOf({ grants }: Matches, command: DrawCommand, capacity: Capacity): DenialReason {
  if (grants.length === 0) return 'no_quota'
  return capacity.caps < neededBy(command) ? 'cap_reached' : 'quota_exhausted'
}

export function deny(
  reason: DenialReason,
  matches: Matches,
  command: DrawCommand,
  capacity: Capacity,
  now: EpochMs,
  explains: boolean,
): Denied {
  const needed = neededBy(command)
  const blocking = matches.caps.filter(cap => headroomOf(cap) < needed)
  const limiting = blocking[0] ?? matches.grants.at(-1)
  return {
    outcome: 'denied',
    reason,
    remaining: drawableOf(matches),
    limiting_quota_id: limiting?.id ?? null,
    retry_at: retryAt(matches, blocking, capacity.grants < needed, needed, now),
    explanation: explains ? explain(matches, command, null) : null,
  }
}

/**
 * The earliest time at which the same request could be granted, as far as time alone decides: the latest of the ends of
 * the blocking caps' windows and, if the grants fall short, the earliest next window or start of a matching grant.
 * Null if time alone does not help.
 */
function retryAt(
  matches: Matches,
  blocking: readonly Allowance[],
  grantsFallShort: boolean,
  needed: number,
  now: EpochMs,
): EpochMs | null {
  const times = blocking.map(cap => capAllowsAt(cap, needed))
  if (grantsFallShort) times.push(grantsCoverAt(matches, needed, now))
  const latest = Math.max(now, ...times)
  return Number.isFinite(latest) ? latest : null
}

/** When a cap's next window with enough room begins, or the cap expires; Infinity if neither happens. */
function capAllowsAt(cap: Allowance, needed: number): EpochMs {
  const expiry = cap.expires_at ?? Number.POSITIVE_INFINITY
  const nextWindowSuffices = cap.limit === null || cap.limit >= needed
  return nextWindowSuffices ? Math.min(expiry, cap.window_end ?? Number.POSITIVE_INFINITY) : expiry
}

/**
 * The earliest next window or start of a grant that the request matches. Infinity if there is none, or if all these
 * grants together can never hold the needed units.
 */
function grantsCoverAt({ grants, skipped }: Matches, needed: number, now: EpochMs): EpochMs {
  const scheduled = skipped
    .filter(({ quota, verdict }) => verdict === 'scheduled' && quota.kind === 'grant')
    .map(({ quota }) => quota)
  const mostEver = [...grants, ...scheduled].reduce((sum, grant) => sum + maxHeadroomOf(grant), 0)
  if (mostEver < needed) return Number.POSITIVE_INFINITY
  const nextWindows = grants
    .filter(grant => hasNextWindow(grant) && canHoldUnits(grant))
    .map(grant => grant.window_end ?? Number.POSITIVE_INFINITY)
  const starts = scheduled.filter(canHoldUnits).map(grant => grant.starts_at)
  return Math.min(...nextWindows, ...starts.filter(at => at > now), Number.POSITIVE_INFINITY)
}

/** The most units that could be drawn on a grant at once, now or in any later window. */
function maxHeadroomOf(grant: Allowance): number {
  const now = Math.max(0, headroomOf(grant))
  if (grant.limit === null || !hasNextWindow(grant)) return now
  return Math.max(now, grant.limit + grant.rollover_limit + grant.overage_limit)
}

/** Whether another window follows the current one: the quota has a period, and does not expire first. */
function hasNextWindow(quota: Allowance): boolean {
  return quota.window_end !== null && shownWindowEnd(quota) !== quota.expires_at
}

function canHoldUnits({ limit, overage_limit }: Allowance): boolean {
  return limit === null || limit + overage_limit > 0
}
