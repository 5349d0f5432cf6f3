/** A send with enforcement: reserve, send, and commit or release. */
import type { Denied, Granted, ReserveReq, Settled } from './api.ts'
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
   */
  | { readonly granted: true; readonly sent: true; readonly value: T; readonly settled: null; readonly error: unknown }
  /** The reservation stays open until it is settled or expires, as `onExpiry` says. */
  | { readonly granted: true; readonly sent: 'unknown'; readonly error: UnknownIfSent; readonly reservation: Granted }

export interface ReservationCalls {
  reserve(input: ReserveReq, options?: CallOptions): Promise<Granted | Denied>
  commit(input: { userId: number; id: string }, options?: CallOptions): Promise<Settled>
  release(input: { userId: number; id: string }, options?: CallOptions): Promise<Settled>
}

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
  send: (reservation: Granted) => Promise<T> | T,
  options: CallOptions = {},
): Promise<Sent<T>> {
  const reservation = await calls.reserve({ onExpiry: 'commit', ...input }, options)
  if (!reservation.granted) return reservation
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
    return { granted: true, sent: true, value, settled: null, error }
  }
}
