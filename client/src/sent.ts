/** What a send with enforcement answers. */
import type { Denied, Granted, Settled } from './api.ts'

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
   * It was sent, and its units are charged as soon as the service confirms it.
   *
   * With `isDebt` the service gave no answer before the send (`error`), and the journal sees to it that the message is charged.
   * With `isLeased` it gave none, and a lease has paid the message. With neither, the commit after the send failed with `error`, which only
   * happens with `onExpiry: 'release'`: it is repeated in the background.
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
   * `send` threw UnknownIfSent, or was not called, because an earlier call with this id has reserved units, or another one has
   * committed them meanwhile, and nothing says whether it sent. The reservation is null if the journal has a debt, or if a lease has paid the message.
   */
  | {
      readonly granted: true
      readonly sent: 'unknown'
      readonly error: UnknownIfSent
      readonly reservation: Granted | null
    }
  /**
   * Nothing was sent now: the units are charged for an earlier call with this id, which has begun its send and not said that
   * it failed. The reservation is null if this process or its journal knows that without asking.
   */
  | { readonly granted: true; readonly sent: 'before'; readonly reservation: Granted | null }
