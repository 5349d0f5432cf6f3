/** A send with enforcement: reserve, send, and commit or release. */
import type { Denied, Granted, ReserveReq, Settled } from './api.ts'
import type { Booking } from './booking.ts'
import type { Journal, OnUnavailable } from './debt.ts'
import { UnavailableError } from './errors.ts'
import type { OutageLeases, PayableMessage } from './outage-leases.ts'
import type { CallOptions } from './transport.ts'

/** Thrown by a `send` that cannot tell whether the message left, for example after a time-out of the provider. */
export class UnknownIfSent extends Error {
  override readonly name = 'UnknownIfSent'

  constructor(message = 'It is not known whether the message was sent.', options?: ErrorOptions) {
    super(message, options)
  }
}

/** What became of a message. */
export type Sent<T> =
  /** Nothing was sent: the quotas do not allow it. */
  | Denied
  | { readonly granted: true; readonly sent: true; readonly value: T; readonly settled: Settled }
  /**
   * It was sent, and the commit failed with `error`. The reservation is then committed or released at its expiry, as `onExpiry`
   * says; the commit may be repeated.
   *
   * With `isDebt` the reservation failed with `error`, and the journal sees to it that the message is charged. With `isLeased` it
   * failed with `error`, and a lease has paid the message.
   */
  | {
      readonly granted: true
      readonly sent: true
      readonly value: T
      readonly settled: null
      readonly error: unknown
      readonly isDebt: boolean
      readonly isLeased: boolean
    }
  /**
   * The reservation stays open until it is settled or expires, as `onExpiry` says. It is null if the journal has a debt, or if
   * a lease has paid the message.
   */
  | {
      readonly granted: true
      readonly sent: 'unknown'
      readonly error: UnknownIfSent
      readonly reservation: Granted | null
    }

export interface ReservationOptions extends CallOptions {
  /** In place of the client's. */
  onUnavailable?: OnUnavailable
}

/** What the client adds. */
interface Policy {
  onUnavailable: OnUnavailable
  debts: { readonly journal: Journal; readonly booking: Booking } | undefined
  leases: OutageLeases | undefined
}

export interface ReservationCalls {
  reserve(input: ReserveReq, options?: CallOptions): Promise<Granted | Denied>
  commit(input: { userId: number; id: string }, options?: CallOptions): Promise<Settled>
  release(input: { userId: number; id: string }, options?: CallOptions): Promise<Settled>
}

type Send<T> = (reservation: Granted | null) => Promise<T> | T

/**
 * Reserves, sends, and commits. If `send` throws, the units are released and its error is thrown; if it throws
 * `UnknownIfSent`, they stay reserved. If the release fails, too, both errors are thrown as one AggregateError. The options
 * are those of the reservation: what follows the send is not aborted.
 *
 * By default the units are committed if this process ends after the reservation: then a message that was sent is never free,
 * and one that was not costs its units until someone releases them.
 */
export async function withReservation<T>(
  calls: ReservationCalls,
  input: ReserveReq,
  send: Send<T>,
  { onUnavailable, debts, leases, ...options }: CallOptions & Policy,
): Promise<Sent<T>> {
  assertPossible(input, { onUnavailable, debts, leases })
  // What is settled for a debt would meet a reservation of the same id. So the message stays in the journal.
  if (debts?.journal.find(input.userId, input.id) !== undefined) {
    return sendAsDebt(debts, input, send, new Error('the message has a debt already'))
  }
  if (leases?.isOpen(input)) {
    const message = 'a lease paid the message in an outage, and the service has not closed its id yet'
    return sendFromLease(leases, input, send, new UnavailableError(message, { mayHaveTakenEffect: true }))
  }
  let reservation: Granted | Denied
  try {
    reservation = await calls.reserve({ onExpiry: 'commit', ...input }, options)
  } catch (error) {
    if (!(error instanceof UnavailableError && error.isOutage)) throw error
    if (onUnavailable === 'allow-with-debt' && debts !== undefined) return sendAsDebt(debts, input, send, error)
    if (onUnavailable === 'lease' && leases !== undefined) return sendFromLease(leases, input, send, error)
    throw error
  }
  if (!reservation.granted) return reservation
  if (onUnavailable === 'lease') leases?.hold(input)
  const { userId, id } = reservation
  let value: T
  try {
    value = await send(reservation)
  } catch (error) {
    if (error instanceof UnknownIfSent) return { granted: true, sent: 'unknown', error, reservation }
    await calls.release({ userId, id }).catch(failure => {
      throw new AggregateError([error, failure], 'the send failed, and the units could not be released')
    })
    throw error
  }
  try {
    const settled = await calls.commit({ userId, id })
    return { granted: true, sent: true, value, settled }
  } catch (error) {
    return { granted: true, sent: true, value, settled: null, error, isDebt: false, isLeased: false }
  }
}

/** @throws UnavailableError if the journal cannot take it; then nothing was sent */
async function sendAsDebt<T>(
  { journal, booking }: NonNullable<Policy['debts']>,
  input: ReserveReq,
  send: Send<T>,
  reason: unknown,
): Promise<Sent<T>> {
  const end = await journal.begin(input).catch(error => {
    if (error instanceof UnavailableError) throw error
    const message = 'the service did not answer, and the journal cannot be written'
    throw new UnavailableError(message, { mayHaveTakenEffect: true, cause: error })
  })
  try {
    const value = await send(null)
    await end('sent')
    return { granted: true, sent: true, value, settled: null, error: reason, isDebt: true, isLeased: false }
  } catch (error) {
    await end(error instanceof UnknownIfSent ? 'unknown' : 'not-sent')
    if (error instanceof UnknownIfSent) return { granted: true, sent: 'unknown', error, reservation: null }
    throw error
  } finally {
    booking.wake()
  }
}

/** @throws UnavailableError if the lease holds too few units; then nothing was sent */
async function sendFromLease<T>(
  leases: OutageLeases,
  input: ReserveReq,
  send: Send<T>,
  reason: UnavailableError,
): Promise<Sent<T>> {
  const takeBack = isPayable(input) ? leases.pay(input, reason) : undefined
  if (takeBack === undefined) throw reason
  try {
    const value = await send(null)
    return { granted: true, sent: true, value, settled: null, error: reason, isDebt: false, isLeased: true }
  } catch (error) {
    if (error instanceof UnknownIfSent) return { granted: true, sent: 'unknown', error, reservation: null }
    takeBack()
    throw error
  }
}

/** Refuses what would fail in an outage only. @throws TypeError */
function assertPossible(input: ReserveReq, { onUnavailable, debts, leases }: Policy): void {
  if (onUnavailable === 'allow-with-debt' && debts === undefined) {
    throw new TypeError(
      'onUnavailable: allow-with-debt needs a journal: createClient({ journal: await openJournal(…) })',
    )
  }
  if (onUnavailable === 'lease' && leases === undefined) {
    throw new TypeError('onUnavailable: lease needs units to hold: createClient({ outageLease: { units: … } })')
  }
  if (onUnavailable === 'lease' && !isPayable(input)) {
    throw new TypeError(
      'onUnavailable: lease needs a message with `units`, and with `country` if quotas have countries: only the service counts a text',
    )
  }
}

function isPayable(input: ReserveReq): input is PayableMessage {
  return input.units !== undefined
}
