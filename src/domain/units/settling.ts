import { segmentsPaidBy, unitsOf } from '../rates/rate.ts'
import type { EpochMs } from '../time/time.ts'
import type { FeedbackCommand, Outcome, SettleCommand } from './command.ts'
import { type Draft, putReservation } from './draft.ts'
import { outstandingOf, type Reservation, spentOf } from './reservation.ts'

/**
 * Settles by target: the command names the total to be committed, released or refunded, so that a repeated command
 * changes nothing. The status of the quotas does not matter.
 */
export function settle(draft: Draft, command: SettleCommand, now: EpochMs): Outcome {
  const reservation = expireIfDue(draft, command.id, now)
  if (reservation === undefined) return { outcome: 'not_found' }

  if (command.total_segments !== undefined && reservation.price === undefined)
    return { outcome: 'no_rate', reservation }
  const { done, possible } = progressOf(reservation, command)
  const target = targetOf(reservation, command) ?? possible
  if (target > reservation.units) {
    if (command.op === 'commit' && command.force) return extend(draft, reservation, command, target, now)
    return { outcome: 'exceeds_reservation', reservation }
  }
  // A command for all units fails if there are none: an answer "settled" would read as a success.
  if (target > possible || (command.total_units === null && possible === 0)) {
    // What is not committed yet can be refunded later.
    const outstanding = outstandingOf(reservation)
    if (command.op === 'refund' && outstanding > 0 && target <= possible + outstanding) {
      return { outcome: 'exceeds_committed', reservation }
    }
    const detail = `${possible} of ${reservation.units} units can be ${PAST[command.op]} in total; ${done} already are.`
    return { outcome: 'reservation_closed', reservation, detail }
  }
  const isVerifying = command.verified === true && !reservation.verified
  const verified = isVerifying ? { ...reservation, verified: true } : reservation
  if (target <= done) {
    // A repetition of the commit: the code was entered meanwhile.
    if (isVerifying) putReservation(draft, verified, now, command)
    return { outcome: 'settled', reservation: verified, replayed: true }
  }

  const settled = settledTo(verified, command, target)
  putReservation(draft, settled, now, command)
  // Only a forced commit lowers what was given back.
  const isRetaken = settled.released < reservation.released || settled.refunded < reservation.refunded
  if (isRetaken && !draft.retaken.includes(settled.id)) draft.retaken.push(settled.id)
  return { outcome: 'settled', reservation: settled, replayed: false }
}

/**
 * The units that the command names, of segments what they cost. Refunded segments leave what the others cost: what the message costs beside
 * them comes back with the last one.
 */
function targetOf(
  { price, committed }: Reservation,
  { op, total_units, total_segments }: SettleCommand,
): number | null {
  if (total_segments === undefined || price === undefined) return total_units
  const left = segmentsPaidBy(committed, price) - total_segments
  return op === 'refund' && left >= 0 ? committed - unitsOf(price, left) : unitsOf(price, total_segments)
}

/**
 * A forced commit of more units than were reserved: all of them are used, past any limit, in the windows that the others were drawn from. The
 * last grant pays the further ones, unless none has paid the last of the others.
 */
function extend(draft: Draft, reservation: Reservation, command: SettleCommand, units: number, now: EpochMs): Outcome {
  const { id } = reservation
  const draws = reservation.draws.map(draw =>
    draw.to === reservation.units && draw.counts === undefined ? { ...draw, to: units } : draw,
  )
  const verified = reservation.verified || command.verified === true
  const extended = { ...reservation, units, draws, committed: units, released: 0, refunded: 0, verified }
  putReservation(draft, extended, now, command)
  for (const ids of [draft.extended, draft.retaken]) if (!ids.includes(id)) ids.push(id)
  return { outcome: 'settled', reservation: extended, replayed: false }
}

/** Marks a reservation whose message's code was entered, once. The units do not matter: the code arrived in any case. */
export function verify(draft: Draft, command: FeedbackCommand, now: EpochMs): Outcome {
  const reservation = expireIfDue(draft, command.id, now)
  if (reservation === undefined) return { outcome: 'not_found' }
  if (reservation.verified) return { outcome: 'settled', reservation, replayed: true }
  const verified = { ...reservation, verified: true }
  putReservation(draft, verified, now, command)
  return { outcome: 'settled', reservation: verified, replayed: false }
}

const PAST = { commit: 'committed', release: 'released', refund: 'refunded' }

/**
 * How many units are committed, released or refunded already, as the command asks, and how many could be in total. To a forced commit, units
 * that were refunded are missing: the message was delivered after all.
 */
function progressOf(reservation: Reservation, { op, force }: SettleCommand): { done: number; possible: number } {
  const { units, committed, released, refunded } = reservation
  switch (op) {
    case 'commit':
      return force ? { done: spentOf(reservation), possible: units } : { done: committed, possible: units - released }
    case 'release':
      return { done: released, possible: units - committed }
    case 'refund':
      return { done: refunded, possible: committed }
  }
}

function settledTo(reservation: Reservation, { op, force }: SettleCommand, target: number): Reservation {
  const { units, released, refunded } = reservation
  const committed = Math.max(reservation.committed, target)
  switch (op) {
    case 'commit':
      // A forced commit takes units again that were refunded, then outstanding and released ones, in the windows they were drawn from.
      return {
        ...reservation,
        committed,
        released: Math.min(released, units - committed),
        refunded: force ? committed - target : refunded,
      }
    case 'release':
      return { ...reservation, released: target }
    case 'refund':
      return { ...reservation, refunded: target }
  }
}

/**
 * The reservation, closed if it is past its `expires_at`: outstanding units are then released, or committed if its
 * `on_expiry` says so (for a gateway that may crash after handing over). Undefined if there is none.
 */
export function expireIfDue(draft: Draft, id: string, now: EpochMs): Reservation | undefined {
  const reservation = draft.reservations.get(id)
  if (reservation === undefined || reservation.expires_at > now) return reservation
  const outstanding = outstandingOf(reservation)
  if (outstanding === 0) return reservation
  const closed =
    reservation.on_expiry === 'commit'
      ? { ...reservation, expired: true, committed: reservation.committed + outstanding }
      : { ...reservation, expired: true, released: reservation.released + outstanding }
  // Time is the cause, and not the sender who meets the reservation first.
  putReservation(draft, closed, now, {})
  return closed
}
