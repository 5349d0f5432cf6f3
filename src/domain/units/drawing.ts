import { canonicalNumber } from '../messages/recipient.ts'
import { NO_PAUSES, type PausesByCountry, pausedBy } from '../pauses/pause.ts'
import { type Allowance, balanceOf } from '../quotas/quota.ts'
import { unitsOf, wholeUnits } from '../rates/rate.ts'
import { NO_RATES, type RateBook, rateOf } from '../rates/rate-book.ts'
import type { EpochMs } from '../time/time.ts'
import type { DrawCommand, Outcome } from './command.ts'
import { denialReasonOf, deny, denyPaused } from './denial.ts'
import { type Draft, putReservation } from './draft.ts'
import { explain } from './explanation.ts'
import { type Capacity, capacityOf, drawableOf, type MatchedCap, type Matches, matchQuotas } from './matching.ts'
import { askedForce, type DenialReason, type Draw, outstandingOf, type Reservation, spentOf } from './reservation.ts'
import { expireIfDue } from './settling.ts'
import { addDenial } from './usage.ts'

/** The strictness with which limits are enforced. */
export interface Enforcement {
  /** Grants what would be denied, books it as force, and says so in `would_deny`. */
  readonly observe: boolean
  /** Destinations that are paused; left out: none. */
  readonly pauses?: PausesByCountry
  /** What segments cost; left out: one unit each. */
  readonly rates?: RateBook
}

/** Checks, reserves or consumes units. A command whose id exists already changes nothing. */
export function draw(
  draft: Draft,
  asked: DrawCommand,
  now: EpochMs,
  { observe, pauses = NO_PAUSES, rates = NO_RATES }: Enforcement,
): Outcome {
  const command = priced(asked, draft, rates, now)
  if (command.op !== 'check') {
    const earlier = expireIfDue(draft, command.id, now)
    if (earlier !== undefined) return replay(draft, earlier, command, now)
  }
  const matches = matchQuotas(draft, command, now)
  const capacity = capacityOf(matches)
  const pause = matches.grants.length === 0 ? undefined : pausedBy(pauses, command, now)
  const grantable = pause === undefined ? grantableUnits(command, capacity) : 0
  const reason = grantable > 0 ? null : denialReasonOf(matches, command, capacity, pause)
  const ignoresLimits = command.force || observe
  if (reason !== null && !ignoresLimits) {
    if (command.op !== 'check') addDenial(draft.usage, command, reason)
    const explains = command.explain || (draft.explainsDenials && command.op !== 'check')
    if (pause !== undefined) return denyPaused(pause, matches, command, explains)
    return deny(reason, matches, command, capacity, now, explains)
  }

  // A forced command has been sent already, and observe mode denies nothing: both are granted in full.
  const units = command.force || reason !== null ? command.units : grantable
  const wouldDeny = command.force ? null : reason
  const reservation = reservationOf(command, matches, units, wouldDeny, now)
  const explanation = command.explain ? explain(matches, command, reservation) : null
  if (command.op !== 'check') putReservation(draft, reservation, now, command)
  return {
    outcome: 'granted',
    reservation,
    remaining: drawableOf(matches),
    replayed: false,
    would_deny: wouldDeny,
    explanation,
  }
}

/** Answers a repeated id: with the same content, the reservation as it is now. Nothing is drawn. */
function replay(draft: Draft, earlier: Reservation, command: DrawCommand, now: EpochMs): Outcome {
  const fields = differingFields(earlier, command)
  if (fields.length > 0) return { outcome: 'idempotency_mismatch', fields }
  if (outstandingOf(earlier) === 0 && spentOf(earlier) === 0) {
    const detail = 'No unit of this reservation is reserved or committed any more. A new attempt needs a new id.'
    return { outcome: 'reservation_closed', reservation: earlier, detail }
  }
  const remaining = drawableOf(matchQuotas(draft, command, now))
  const { would_deny } = earlier
  return { outcome: 'granted', reservation: earlier, remaining, replayed: true, would_deny, explanation: null }
}

/** The command with what its message costs now, by the card of its user. Beside units no card applies. */
function priced(command: DrawCommand, { cards }: Draft, rates: RateBook, now: EpochMs): DrawCommand {
  const { segments, recipient, country, message_type } = command
  if (segments === undefined || rates.cards.size === 0) return command
  // Of a message it is the number, in E.164 form.
  const digits = recipient === undefined ? null : canonicalNumber(recipient.slice(1)).slice(1)
  const rate = rateOf(rates, cards, { digits, country, message_type }, now)
  return rate === null ? command : { ...command, units: unitsOf(rate, segments), price: { ...rate, segments } }
}

/** What was asked for makes a repetition, not what it cost: prices may have changed between. */
function asksAsMuch({ asked, price }: Reservation, { units, segments }: DrawCommand): boolean {
  return price === undefined ? asked === (segments ?? units) : price.segments === segments
}

function differingFields(earlier: Reservation, command: DrawCommand): string[] {
  const content = ['country', 'message_type', 'allow_partial'] as const
  const fields = isBookedAfterSend(earlier, command) ? content : (['op', ...content, 'force'] as const)
  const request = { ...earlier, force: askedForce(earlier) }
  const differing: string[] = fields.filter(name => request[name] !== command[name])
  return asksAsMuch(earlier, command) ? differing : ['units', ...differing]
}

/**
 * What was consumed by force had been sent before it was booked: in an outage, for a caller who had asked without force. When that one asks
 * again, how it was booked makes no other message of it.
 */
function isBookedAfterSend(earlier: Reservation, command: DrawCommand): boolean {
  return earlier.op === 'consume' && askedForce(earlier) && !command.force
}

/** All units or none; with `allow_partial`, as many as there are, of a priced message those of whole segments. */
function grantableUnits({ units, allow_partial, price }: DrawCommand, { grants, caps }: Capacity): number {
  const available = Math.min(grants, caps)
  if (available >= units) return units
  if (!allow_partial) return 0
  return price === undefined ? available : wholeUnits(price, available)
}

function reservationOf(
  command: DrawCommand,
  matches: Matches,
  units: number,
  wouldDeny: DenialReason | null,
  now: EpochMs,
): Reservation {
  const isConsumption = command.op === 'consume'
  return {
    user_id: command.user_id,
    id: command.id,
    op: isConsumption ? 'consume' : 'reserve',
    asked: command.units,
    country: command.country,
    message_type: command.message_type,
    allow_partial: command.allow_partial,
    force: command.force || wouldDeny !== null,
    would_deny: wouldDeny,
    units,
    ...(matches.messages === 1 ? {} : { messages: matches.messages }),
    ...(command.price === undefined ? {} : { price: command.price }),
    committed: isConsumption ? units : 0,
    released: 0,
    refunded: 0,
    on_expiry: command.on_expiry,
    expired: false,
    verified: false,
    draws: [
      ...drawsOnGrants(matches.grants, units),
      ...matches.caps.map(cap => drawOnCap(cap, units, matches.messages)),
    ],
    created_at: now,
    expires_at: isConsumption ? now : now + command.ttl_ms,
  }
}

/**
 * Splits units over grants: first the grants' own units in burn order, then their overage in the same order. Units that
 * no grant can hold, which only force brings about, are overage of the last one.
 */
function drawsOnGrants(grants: readonly Allowance[], units: number): Draw[] {
  const draws: Draw[] = []
  let drawn = 0
  const take = (grant: Allowance, available: number) => {
    const share = Math.min(units - drawn, available)
    if (share <= 0) return
    const previous = draws.at(-1)
    if (previous?.quota_id === grant.id) previous.to += share
    else draws.push(drawOn(grant, drawn, drawn + share))
    drawn += share
  }
  for (const grant of grants) take(grant, balanceOf(grant))
  if (drawn === units) return draws
  // A negative balance is overage that is used already.
  for (const grant of grants) take(grant, grant.overage_limit + Math.min(0, balanceOf(grant)))
  const last = grants.at(-1)
  if (last !== undefined) take(last, units)
  return draws
}

function drawOnCap(cap: MatchedCap, units: number, messages: number): Draw {
  const { counts, key } = cap
  return {
    ...drawOn(cap, 0, counts === 'messages' ? messages : units),
    ...(counts === 'messages' ? { counts } : {}),
    ...(key === undefined ? {} : { key }),
  }
}

function drawOn({ id, kind, window_no, window_start }: Allowance, from: number, to: number): Draw {
  return { quota_id: id, kind, window_no, window_start, from, to }
}
