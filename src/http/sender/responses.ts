import type { Measure } from '../../domain/messages/message.ts'
import { type Price, unitsOf } from '../../domain/rates/rate.ts'
import { formatTimestampOrNull } from '../../domain/time/time.ts'
import type { Authorship } from '../../domain/units/authorship.ts'
import type { Command, Denied, Explanation, Granted, Outcome } from '../../domain/units/command.ts'
import { explanationViewOf } from '../../domain/units/explanation.ts'
import { type Reservation, unfundedOf } from '../../domain/units/reservation.ts'
import { authorshipViewOf, drawViewOf, reservationViewOf } from '../../domain/units/view.ts'
import { Problem } from '../../errors.ts'
import type { SenderCall } from './requests.ts'

/**
 * The response to an outcome.
 *
 * @param readsNotes whether the caller may read what administrators wrote for themselves
 * @throws Problem if the outcome is an error
 */
export function answerOf(call: SenderCall, outcome: Outcome, readsNotes: boolean): object {
  const { command } = call
  switch (outcome.outcome) {
    case 'granted':
      return command.op === 'check' ? grantable(call, outcome) : granted(call, outcome)
    case 'denied':
      return denied(call, outcome, readsNotes)
    case 'settled':
      return { ...reservationViewOf(outcome.reservation), ...named(call), replayed: outcome.replayed }
    case 'found':
      return {
        ...reservationViewOf(outcome.reservation),
        ...named(call),
        ...authorshipViewOf(outcome.authorship ?? UNKNOWN),
      }
    case 'not_found':
      throw new Problem('not_found', `User ${command.user_id} has no reservation "${command.id}".`)
    case 'idempotency_mismatch':
      throw mismatch(command, outcome.fields)
    case 'reservation_closed':
      throw refusal('reservation_closed', outcome.detail, call, outcome.reservation)
    case 'exceeds_reservation':
      throw refusal('exceeds_reservation', tooMany(command, outcome.reservation), call, outcome.reservation)
    case 'no_rate':
      throw refusal('no_rate', 'No rate card has priced the reservation.', call, outcome.reservation)
    case 'exceeds_committed':
      throw refusal('exceeds_committed', notCommitted(command, outcome.reservation), call, outcome.reservation)
  }
}

const UNKNOWN: Authorship = { made_by: null, settled_by: null, actions: [] }

/** Beside the id, the reference by which the request named the user. */
function named({ userRef }: Pick<SenderCall, 'userRef'>) {
  return userRef === null ? undefined : { user_ref: userRef }
}

/** The user of an answer to a check. One who is not made yet has no id. */
function asked({ command: { user_id }, userRef }: SenderCall) {
  if (userRef === null) return { user_id }
  return Number.isNaN(user_id) ? { user_ref: userRef } : { user_id, user_ref: userRef }
}

function granted(call: SenderCall, { reservation, remaining, replayed, would_deny, explanation }: Granted) {
  return {
    granted: true,
    ...reservationViewOf(reservation),
    ...named(call),
    remaining,
    replayed,
    ...(would_deny === null ? undefined : { would_deny }),
    ...findingsOf(call.measure),
    ...explained(explanation),
  }
}

/** The response to a check, which makes no reservation: it has neither id nor state. */
function grantable(call: SenderCall, { reservation, remaining, would_deny, explanation }: Granted) {
  return {
    granted: true,
    ...asked(call),
    units: reservation.units,
    ...rateOf(reservation),
    unfunded: unfundedOf(reservation),
    draws: reservation.draws.map(drawViewOf),
    remaining,
    ...(would_deny === null ? undefined : { would_deny }),
    ...findingsOf(call.measure),
    ...explained(explanation),
  }
}

function denied(call: SenderCall, outcome: Denied, readsNotes: boolean) {
  const { command, measure, userRef } = call
  const { reason, remaining, limiting_quota_id, retry_at, price, pause, explanation } = outcome
  // A denial that is logged is explained in any case.
  const isAsked = 'explain' in command && command.explain
  return {
    granted: false,
    ...(userRef === null ? undefined : asked(call)),
    reason,
    ...(measure === null ? undefined : { units: price === undefined ? measure.units : unitsOf(price, price.segments) }),
    ...rateOf(outcome),
    remaining,
    limiting_quota_id,
    retry_at: formatTimestampOrNull(retry_at),
    ...(pause === undefined ? undefined : { pause: pauseOf(pause, readsNotes) }),
    ...findingsOf(measure),
    ...(isAsked ? explained(explanation) : undefined),
  }
}

/** The rate of a message that a card prices; nothing beside others, as all had before. */
function rateOf({ price }: { price?: Price }) {
  if (price === undefined) return undefined
  const { segments: _, ...rate } = price
  return { rate }
}

function pauseOf({ id, until, reason }: NonNullable<Denied['pause']>, readsNotes: boolean) {
  return { id, until: formatTimestampOrNull(until), reason: readsNotes ? reason : null }
}

function explained(explanation: readonly Explanation[] | null) {
  return explanation === null ? undefined : { explain: explanation.map(explanationViewOf) }
}

function findingsOf(measure: Measure | null) {
  if (measure === null) return undefined
  const { encoding, segments, country } = measure
  return { encoding, segments, country }
}

function mismatch({ id, user_id }: Command, fields: readonly string[]): Problem {
  return new Problem(
    'idempotency_mismatch',
    `User ${user_id} already has a reservation "${id}" from a different request. These fields differ: ${fields.join(', ')}.`,
    { members: { errors: fields.map(name => ({ path: `/${name}`, message: 'differs' })) } },
  )
}

function tooMany(command: Command, { units }: Reservation): string {
  return `The reservation holds ${units} units, and ${totalInWords(command)}.`
}

function notCommitted(command: Command, { units, committed }: Reservation): string {
  const asked = totalInWords(command)
  const named = asked === null ? '' : `, and ${asked}`
  return `${committed} of ${units} units are committed so far${named}.`
}

function totalInWords(command: Command): string | null {
  if (!('total_units' in command)) return null
  const { total_units, total_segments } = command
  if (total_segments !== undefined) return `total_segments is ${total_segments}`
  return total_units === null ? null : `total_units is ${total_units}`
}

/** An error with the current state of the reservation, so that the sender need not read it. */
function refusal(
  code: 'reservation_closed' | 'exceeds_reservation' | 'exceeds_committed' | 'no_rate',
  detail: string,
  call: SenderCall,
  reservation: Reservation,
): Problem {
  return new Problem(code, detail, { members: { reservation: { ...reservationViewOf(reservation), ...named(call) } } })
}
