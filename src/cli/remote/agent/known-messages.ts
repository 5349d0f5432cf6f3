/**
 * The messages of the last ten minutes: which of them a lease has paid, and which were passed on to the service. A repeated
 * call must take the way of the first one, otherwise its message would be charged twice.
 */
import type { PooledLease } from '../../../../client/src/lease-pool.ts'
import { type MessageName, messageKey } from '../../../../client/src/user.ts'
import type { SegmentRules } from '../../../domain/messages/segment-rules.ts'

/** For how long a message is known. */
export const KNOWN_MS = 600_000
/** They take some 100 MB. */
const MAX_KNOWN = 500_000

/** A message that a lease has paid. */
export interface PaidMessage {
  readonly lease: PooledLease
  /** As the service has named it with a slice. */
  readonly userId: number
  readonly units: number
  readonly country: string | null
  readonly messageType: string | null
  /** By which its text was counted: the service may have others since. */
  readonly segments: SegmentRules
  refunded: number
}

interface Known {
  readonly at: number
  /** Null: the message was passed on to the service. */
  readonly paid: PaidMessage | null
}

export interface KnownMessages {
  /** Undefined if the message is not known, null if it was passed on. */
  find(message: MessageName): PaidMessage | null | undefined
  /**
   * Whether leases may pay messages that are not known: there is room for them, and no message of the last ten minutes was
   * passed on unknown.
   */
  mayPay(): boolean
  add(message: MessageName, paid: PaidMessage | null): void
}

export interface KnownMessagesOptions {
  readonly now: () => number
  /** Called when there is no room, at most once in ten minutes. */
  readonly onFull: () => void
  readonly max?: number
}

export function createKnownMessages({ now, onFull, max = MAX_KNOWN }: KnownMessagesOptions): KnownMessages {
  /** The oldest first. */
  const known = new Map<string, Known>()
  let blindUntil = Number.NEGATIVE_INFINITY

  function forgetOld(): void {
    for (const [key, { at }] of known) {
      if (at + KNOWN_MS > now()) return
      known.delete(key)
    }
  }

  return {
    find(message) {
      forgetOld()
      return known.get(messageKey(message))?.paid
    },
    mayPay() {
      forgetOld()
      return known.size < max && now() >= blindUntil
    },
    add(message, paid) {
      if (known.size < max) {
        known.set(messageKey(message), { at: now(), paid })
        return
      }
      if (now() >= blindUntil) onFull()
      blindUntil = now() + KNOWN_MS
    },
  }
}
