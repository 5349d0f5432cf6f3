import type { Command, Denied, Granted, Outcome } from '../domain/command.ts'
import type { Measure } from '../domain/message.ts'
import { type Draw, outstandingOf, type Reservation, stateOf, unfundedOf } from '../domain/reservation.ts'
import { formatInstant, formatNullable } from '../domain/time.ts'
import { Problem } from '../errors.ts'
import type { Asked } from './sender-requests.ts'

/**
 * What an outcome is answered with.
 * @throws Problem if it is an error.
 */
export function answerOf({ command, measure }: Asked, outcome: Outcome): object {
  switch (outcome.outcome) {
    case 'granted':
      return command.op === 'check' ? grantable(outcome, measure) : granted(outcome, measure)
    case 'denied':
      return denied(outcome, measure)
    case 'settled':
      return { ...reservationViewOf(outcome.reservation), replayed: outcome.replayed }
    case 'found':
      return reservationViewOf(outcome.reservation)
    case 'not_found':
      throw new Problem('not_found', `User ${command.user_id} has no reservation "${command.id}".`)
    case 'idempotency_mismatch':
      throw mismatch(command, outcome.fields)
    case 'reservation_closed':
      throw refusal('reservation_closed', outcome.detail, outcome.reservation)
    case 'exceeds_reservation':
      throw refusal('exceeds_reservation', tooMany(command, outcome.reservation), outcome.reservation)
  }
}

function granted({ reservation, remaining, replayed, would_deny, explanation }: Granted, measure: Measure | null) {
  return {
    granted: true,
    ...reservationViewOf(reservation),
    remaining,
    replayed,
    ...(would_deny === null ? undefined : { would_deny }),
    ...findingsOf(measure),
    ...(explanation === null ? undefined : { explain: explanation }),
  }
}

/** A check's: there is no reservation whose id or state could be told. */
function grantable({ reservation, remaining, would_deny, explanation }: Granted, measure: Measure | null) {
  return {
    granted: true,
    user_id: reservation.user_id,
    units: reservation.units,
    unfunded: unfundedOf(reservation),
    draws: reservation.draws.map(drawViewOf),
    remaining,
    ...(would_deny === null ? undefined : { would_deny }),
    ...findingsOf(measure),
    ...(explanation === null ? undefined : { explain: explanation }),
  }
}

function denied({ reason, remaining, limiting_quota_id, retry_at, explanation }: Denied, measure: Measure | null) {
  return {
    granted: false,
    reason,
    ...(measure === null ? undefined : { units: measure.units }),
    remaining,
    limiting_quota_id,
    retry_at: formatNullable(retry_at),
    ...findingsOf(measure),
    ...(explanation === null ? undefined : { explain: explanation }),
  }
}

function findingsOf(measure: Measure | null) {
  if (measure === null) return undefined
  const { encoding, segments, country } = measure
  return { encoding, segments, country }
}

/** A reservation as senders see it. */
export function reservationViewOf(reservation: Reservation) {
  return {
    id: reservation.id,
    user_id: reservation.user_id,
    state: stateOf(reservation),
    units: reservation.units,
    committed: reservation.committed,
    released: reservation.released,
    refunded: reservation.refunded,
    unfunded: unfundedOf(reservation),
    draws: reservation.draws.map(drawViewOf),
    // With nothing outstanding there is nothing that time could close.
    expires_at: outstandingOf(reservation) > 0 ? formatInstant(reservation.expires_at) : null,
  }
}

function drawViewOf({ quota_id, kind, from, to, window_start }: Draw) {
  return { quota_id, kind, units: to - from, window_start: formatInstant(window_start) }
}

function mismatch({ id, user_id }: Command, fields: readonly string[]): Problem {
  return new Problem(
    'idempotency_mismatch',
    `User ${user_id} has a reservation "${id}" that was asked for with another content; it differs in ${fields.join(', ')}.`,
    { members: { errors: fields.map(name => ({ path: `/${name}`, message: 'differs' })) } },
  )
}

function tooMany(command: Command, { units }: Reservation): string {
  const asked = 'total_units' in command ? command.total_units : null
  return `Only ${units} units were reserved, and total_units is ${asked}.`
}

/** An error that shows how the reservation stands, so that nobody has to ask again. */
function refusal(
  code: 'reservation_closed' | 'exceeds_reservation',
  detail: string,
  reservation: Reservation,
): Problem {
  return new Problem(code, detail, { members: { reservation: reservationViewOf(reservation) } })
}
