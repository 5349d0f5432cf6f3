import type { DenialReason, Denied, DrawCommand, Explanation, Outcome } from './command.ts'
import type { Enforcement } from './decide.ts'
import { book, type Draft, quotaAt } from './draft.ts'
import { type Allowance, balanceOf, headroomOf, isLive, shownWindowEnd, statusOf } from './quota.ts'
import { type Draw, outstandingOf, type Reservation, spentOf } from './reservation.ts'
import { expireIfDue } from './settling.ts'
import type { EpochMs } from './time.ts'
import { addDenial } from './usage.ts'

/** Draws units for a message or a campaign, tells whether that could be done, or says why not. */
export function draw(draft: Draft, command: DrawCommand, now: EpochMs, { observe }: Enforcement): Outcome {
  if (command.op !== 'check') {
    const earlier = expireIfDue(draft, command.id, now)
    if (earlier !== undefined) return askedAgain(draft, earlier, command, now)
  }
  const quotas = consider(draft, command, now)
  const capacity = capacityOf(quotas)
  const most = grantable(command, capacity)
  const reason = most > 0 ? null : reasonFor(quotas, command, capacity)
  const booksAnyway = command.force || observe
  if (reason !== null && !booksAnyway) {
    if (command.op !== 'check') addDenial(draft.usage, command)
    return deny(reason, quotas, command, capacity, now)
  }

  // What has been sent already, and what observing lets through, is booked whole.
  const units = command.force || reason !== null ? command.units : most
  const reservation = reservationOf(command, quotas, units, now)
  const explanation = command.explain ? explain(quotas, command, reservation) : null
  if (command.op !== 'check') book(draft, reservation, now)
  return {
    outcome: 'granted',
    reservation,
    remaining: remainingOf(quotas),
    replayed: false,
    would_deny: command.force ? null : reason,
    explanation,
  }
}

/** The same id again: the same content gets the reservation as it stands, and nothing is taken. */
function askedAgain(draft: Draft, earlier: Reservation, command: DrawCommand, now: EpochMs): Outcome {
  const fields = fieldsThatDiffer(earlier, command)
  if (fields.length > 0) return { outcome: 'idempotency_mismatch', fields }
  if (outstandingOf(earlier) === 0 && spentOf(earlier) === 0) {
    const detail = 'Nothing of it is reserved or committed any more: a new attempt needs a new id.'
    return { outcome: 'reservation_closed', reservation: earlier, detail }
  }
  const remaining = remainingOf(consider(draft, command, now))
  return { outcome: 'granted', reservation: earlier, remaining, replayed: true, would_deny: null, explanation: null }
}

function fieldsThatDiffer(earlier: Reservation, command: DrawCommand): string[] {
  const fields = ['op', 'country', 'message_type', 'allow_partial', 'force'] as const
  const differing: string[] = fields.filter(name => earlier[name] !== command[name])
  return earlier.asked === command.units ? differing : ['units', ...differing]
}

/* ── Which quotas count ─────────────────────────────────────────────────────────────────────────────────────────── */

interface Considered {
  /** Live and matching, in burn order. */
  grants: Allowance[]
  /** Live and matching, by id. */
  caps: Allowance[]
  /** The others, and why they do not count. */
  passedOver: { quota: Allowance; verdict: Explanation['verdict'] }[]
}

function consider(draft: Draft, command: DrawCommand, now: EpochMs): Considered {
  const considered: Considered = { grants: [], caps: [], passedOver: [] }
  for (let index = 0; index < draft.quotas.length; index++) {
    const quota = quotaAt(draft, index, now)
    if (quota.deleted_at !== null) continue
    const obstacle = obstacleOf(quota, command, momentFor(quota, now))
    if (obstacle !== null) considered.passedOver.push({ quota, verdict: obstacle })
    else if (quota.kind === 'grant') considered.grants.push(quota)
    else considered.caps.push(quota)
  }
  considered.grants.sort(burnsBefore)
  considered.caps.sort((one, other) => one.id - other.id)
  return considered
}

/**
 * A clock that lags behind a window that another process has opened counts as its start; so does one that lags behind
 * the start of a quota that began when it was made. Otherwise a cap would not hold for a moment after it was answered.
 */
function momentFor(quota: Allowance, now: EpochMs): EpochMs {
  const isOpen = quota.window_no > 0 || quota.starts_at <= quota.created_at
  return isOpen ? Math.max(now, quota.window_start) : now
}

/** Why a quota does not count for this request; null if it does. */
function obstacleOf(quota: Allowance, command: DrawCommand, at: EpochMs): Explanation['verdict'] | null {
  // A scoped quota matches only a request that names a listed value.
  if (quota.countries !== null && (command.country === null || !quota.countries.includes(command.country)))
    return 'other_country'
  if (
    quota.message_types !== null &&
    (command.message_type === null || !quota.message_types.includes(command.message_type))
  )
    return 'other_message_type'
  return isLive(quota, at) ? null : (statusOf(quota, at) as 'suspended' | 'scheduled' | 'expired')
}

/** By priority, then the one whose units would be lost soonest, then the lowest id. */
function burnsBefore(one: Allowance, other: Allowance): number {
  if (one.priority !== other.priority) return one.priority - other.priority
  const end = shownWindowEnd(one) ?? Number.POSITIVE_INFINITY
  const otherEnd = shownWindowEnd(other) ?? Number.POSITIVE_INFINITY
  return end === otherEnd ? one.id - other.id : end - otherEnd
}

/* ── How much they hold ─────────────────────────────────────────────────────────────────────────────────────────── */

interface Capacity {
  /** What the grants can still pay, overage included. */
  grants: number
  /** What the tightest cap still lets through. */
  caps: number
}

function capacityOf({ grants, caps }: Considered): Capacity {
  return {
    grants: grants.reduce((sum, grant) => sum + Math.max(0, headroomOf(grant)), 0),
    caps: caps.reduce((least, cap) => Math.min(least, Math.max(0, headroomOf(cap))), Number.POSITIVE_INFINITY),
  }
}

function leastOf({ grants, caps }: Capacity): number {
  return Math.min(grants, caps)
}

/** The whole or nothing; where a part is allowed, as much as there is. */
function grantable({ units, allow_partial }: DrawCommand, capacity: Capacity): number {
  const least = leastOf(capacity)
  if (least >= units) return units
  return allow_partial ? least : 0
}

/** What the same request could still draw; null if nothing bounds it. */
function remainingOf(quotas: Considered): number | null {
  const least = leastOf(capacityOf(quotas))
  return Number.isFinite(least) ? least : null
}

/* ── Who pays ───────────────────────────────────────────────────────────────────────────────────────────────────── */

function reservationOf(command: DrawCommand, quotas: Considered, units: number, now: EpochMs): Reservation {
  const isConsumption = command.op === 'consume'
  return {
    user_id: command.user_id,
    id: command.id,
    op: isConsumption ? 'consume' : 'reserve',
    asked: command.units,
    country: command.country,
    message_type: command.message_type,
    allow_partial: command.allow_partial,
    force: command.force,
    units,
    committed: isConsumption ? units : 0,
    released: 0,
    refunded: 0,
    on_expiry: command.on_expiry,
    expired: false,
    draws: [...payers(quotas.grants, units), ...quotas.caps.map(cap => drawOn(cap, 0, units))],
    created_at: now,
    expires_at: isConsumption ? now : now + command.ttl_ms,
  }
}

/**
 * All grants' own units first, in burn order, then their overage in the same order; what no grant can hold, which only
 * force brings about, is overage of the last.
 */
function payers(grants: readonly Allowance[], units: number): Draw[] {
  const draws: Draw[] = []
  let paid = 0
  const pay = (grant: Allowance, most: number) => {
    const share = Math.min(units - paid, most)
    if (share <= 0) return
    const last = draws.at(-1)
    if (last?.quota_id === grant.id) last.to += share
    else draws.push(drawOn(grant, paid, paid + share))
    paid += share
  }
  for (const grant of grants) pay(grant, balanceOf(grant))
  if (paid === units) return draws
  // An overdrawn grant's overage is used up as far as its balance is below zero.
  for (const grant of grants) pay(grant, grant.overage_limit + Math.min(0, balanceOf(grant)))
  const last = grants.at(-1)
  if (last !== undefined) pay(last, units)
  return draws
}

function drawOn({ id, kind, window_no, window_start }: Allowance, from: number, to: number): Draw {
  return { quota_id: id, kind, window_no, window_start, from, to }
}

/* ── Denials ────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** The units without which the request is denied. */
function neededBy({ allow_partial, units }: DrawCommand): number {
  return allow_partial ? 1 : units
}

function reasonFor({ grants }: Considered, command: DrawCommand, capacity: Capacity): DenialReason {
  if (grants.length === 0) return 'no_quota'
  return capacity.caps < neededBy(command) ? 'cap_reached' : 'quota_exhausted'
}

function deny(
  reason: DenialReason,
  quotas: Considered,
  command: DrawCommand,
  capacity: Capacity,
  now: EpochMs,
): Denied {
  const needed = neededBy(command)
  const blocking = quotas.caps.filter(cap => headroomOf(cap) < needed)
  const limiting = blocking[0] ?? quotas.grants.at(-1)
  return {
    outcome: 'denied',
    reason,
    remaining: remainingOf(quotas),
    limiting_quota_id: limiting?.id ?? null,
    retry_at: retryAt(quotas, blocking, capacity.grants < needed, needed, now),
    explanation: command.explain ? explain(quotas, command, null) : null,
  }
}

/**
 * The moment before which the same request would be denied again, as far as time alone decides: the later of the ends of
 * the blocking caps' windows and, if grants fall short, the earliest next window or start of a matching one.
 */
function retryAt(
  quotas: Considered,
  blocking: readonly Allowance[],
  grantsFallShort: boolean,
  needed: number,
  now: EpochMs,
): EpochMs | null {
  const moments = blocking.map(cap => capLetsThroughAt(cap, needed))
  if (grantsFallShort) moments.push(grantComesAt(quotas, needed, now))
  const latest = Math.max(now, ...moments)
  return Number.isFinite(latest) ? latest : null
}

/** When a cap starts anew with room enough, or ends; Infinity if neither comes. */
function capLetsThroughAt(cap: Allowance, needed: number): EpochMs {
  const expiry = cap.expires_at ?? Number.POSITIVE_INFINITY
  const hasRoomAnew = cap.limit === null || cap.limit >= needed
  return hasRoomAnew ? Math.min(expiry, cap.window_end ?? Number.POSITIVE_INFINITY) : expiry
}

/**
 * The earliest next window or start of a grant that the request matches; Infinity if none comes, or if all of them
 * together can never hold what is needed.
 */
function grantComesAt({ grants, passedOver }: Considered, needed: number, now: EpochMs): EpochMs {
  const scheduled = passedOver
    .filter(({ quota, verdict }) => verdict === 'scheduled' && quota.kind === 'grant')
    .map(({ quota }) => quota)
  const most = [...grants, ...scheduled].reduce((sum, grant) => sum + mostHeldBy(grant), 0)
  if (most < needed) return Number.POSITIVE_INFINITY
  const nextWindows = grants
    .filter(grant => startsAnew(grant) && holdsAnything(grant))
    .map(grant => grant.window_end ?? Number.POSITIVE_INFINITY)
  const starts = scheduled.filter(holdsAnything).map(grant => grant.starts_at)
  return Math.min(...nextWindows, ...starts.filter(at => at > now), Number.POSITIVE_INFINITY)
}

/** The most units that could be drawn on a grant at once, now or in any window to come. */
function mostHeldBy(grant: Allowance): number {
  const now = Math.max(0, headroomOf(grant))
  if (grant.limit === null || !startsAnew(grant)) return now
  return Math.max(now, grant.limit + grant.rollover_limit + grant.overage_limit)
}

/** Whether another window follows the one that the quota stands in. */
function startsAnew(quota: Allowance): boolean {
  return quota.window_end !== null && shownWindowEnd(quota) !== quota.expires_at
}

function holdsAnything({ limit, overage_limit }: Allowance): boolean {
  return limit === null || limit + overage_limit > 0
}

/* ── Explaining ─────────────────────────────────────────────────────────────────────────────────────────────────── */

function explain(quotas: Considered, command: DrawCommand, reservation: Reservation | null): Explanation[] {
  const unitsOn = (quota: Allowance) =>
    (reservation?.draws ?? [])
      .filter(({ quota_id }) => quota_id === quota.id)
      .reduce((sum, { from, to }) => sum + to - from, 0)
  const line = (quota: Allowance, verdict: Explanation['verdict'], units: number): Explanation => ({
    quota_id: quota.id,
    kind: quota.kind,
    verdict,
    units,
  })
  const grants = quotas.grants.map(grant => {
    const units = unitsOn(grant)
    if (units > 0) return line(grant, 'draws', units)
    if (headroomOf(grant) <= 0) return line(grant, 'exhausted', 0)
    // Where all is denied, no grant was spared: what it has was not enough, or a cap stands before it.
    return line(grant, reservation === null ? 'has_headroom' : 'not_needed', 0)
  })
  const caps = quotas.caps.map(cap =>
    line(cap, headroomOf(cap) < neededBy(command) ? 'blocks' : 'has_headroom', unitsOn(cap)),
  )
  return [...caps, ...grants, ...quotas.passedOver.map(({ quota, verdict }) => line(quota, verdict, 0))]
}
