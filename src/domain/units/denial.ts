import { MAX_LOGGED_LINES } from '../basics/bounds.ts'
import type { UnliftedPause } from '../pauses/pause.ts'
import { type Allowance, headroomOf, shownWindowEnd } from '../quotas/quota.ts'
import { unitsOf } from '../rates/rate.ts'
import { type EpochMs, LATEST } from '../time/time.ts'
import type { Denied, DrawCommand, Explanation } from './command.ts'
import { explain } from './explanation.ts'
import { type Capacity, drawableOf, type Matches, neededBy, roomUnder } from './matching.ts'
import type { DenialReason, Reservation } from './reservation.ts'

/** A denied reserve or consumption, as it is logged. A denied id may be asked for again, so several denials may have it. */
export interface Denial
  extends Pick<Reservation, 'user_id' | 'id' | 'op' | 'country' | 'message_type' | 'allow_partial'>,
    Pick<Denied, 'reason' | 'remaining' | 'limiting_quota_id' | 'retry_at'> {
  /** Units asked for. */
  units: number
  /**
   * How many denials of the user were not logged since the last one that was; null if that is not known. The process
   * counts them that wrote the log entry.
   */
  skipped: number | null
}

/** A denial as it is written, with the first lines of its explanation. */
export interface ExplainedDenial extends Denial {
  explanation: Explanation[]
}

/** The log entry of a denial that was explained. */
export function denialOf(
  { user_id, id, units, country, message_type, allow_partial }: DrawCommand,
  op: Denial['op'],
  { reason, remaining, limiting_quota_id, retry_at, explanation, price }: Denied,
  skipped: number | null,
): ExplainedDenial {
  return {
    user_id,
    id,
    op,
    units: price === undefined ? units : unitsOf(price, price.segments),
    country,
    message_type,
    allow_partial,
    reason,
    remaining,
    limiting_quota_id,
    retry_at,
    skipped,
    explanation: (explanation ?? []).slice(0, MAX_LOGGED_LINES),
  }
}

/** The place of a denial in the log. */
export interface DenialKey {
  user_id: number
  at: EpochMs
  /** Tells the denials of one user and millisecond apart. */
  number: number
}

/** The id of a log entry: it names its place, so that one look-up by the key finds it. */
export function denialIdOf({ user_id, at, number }: DenialKey): string {
  return `den_${user_id}_${at}_${number}`
}

/** The place that an id names; undefined if this service never makes such an id. */
export function denialKeyOf(id: string): DenialKey | undefined {
  const [, ...digits] = /^den_(0|[1-9]\d{0,15})_(0|[1-9]\d{0,14})_([1-9]\d{0,15})$/.exec(id) ?? []
  const [user_id = Number.NaN, at = Number.NaN, number = Number.NaN] = digits.map(Number)
  const isPossible = Number.isSafeInteger(user_id) && at <= LATEST && Number.isSafeInteger(number)
  return isPossible ? { user_id, at, number } : undefined
}

/** The order of the reasons: a denial has the first one that holds. */
export const DENIAL_ORDER = [
  'no_quota',
  'destination_paused',
  'cap_reached',
  'quota_exhausted',
] as const satisfies readonly DenialReason[]

/** @param pause what pauses the destination, if anything does */
export function denialReasonOf(
  { grants }: Matches,
  command: DrawCommand,
  capacity: Capacity,
  pause?: UnliftedPause,
): DenialReason {
  if (grants.length === 0) return 'no_quota'
  if (pause !== undefined) return 'destination_paused'
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
  const blocking = matches.caps.filter(cap => roomUnder(cap, matches.messages) < needed)
  const limiting = blocking[0] ?? matches.grants.at(-1)
  return {
    outcome: 'denied',
    reason,
    remaining: drawableOf(matches),
    limiting_quota_id: limiting?.id ?? null,
    retry_at: retryAt(matches, blocking, capacity.grants < needed, needed, now),
    ...pricedAs(command),
    explanation: explains ? explain(matches, command, null) : null,
  }
}

/** The denial of a message to a paused destination. What the quotas hold is no part of it, but of its explanation. */
export function denyPaused(
  { id, until, reason }: UnliftedPause,
  matches: Matches,
  command: DrawCommand,
  explains: boolean,
): Denied {
  return {
    outcome: 'denied',
    reason: 'destination_paused',
    remaining: 0,
    limiting_quota_id: null,
    retry_at: until,
    ...pricedAs(command),
    pause: { id, until, reason },
    explanation: explains ? explain(matches, command, null) : null,
  }
}

const pricedAs = ({ price }: DrawCommand) => (price === undefined ? undefined : { price })

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
  const times = blocking.map(cap => capAllowsAt(cap, cap.counts === 'messages' ? matches.messages : needed))
  if (grantsFallShort) times.push(grantsCoverAt(matches, needed, now))
  const latest = Math.max(now, ...times)
  return Number.isFinite(latest) ? latest : null
}

/** When a cap's next window with enough room begins, or the cap expires; Infinity if neither happens. @param needed of what it counts */
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
