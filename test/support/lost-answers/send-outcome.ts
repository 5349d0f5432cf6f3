/** What one call of `withReservation` tells its caller, in words that senders of all languages share. */
import {
  type Client,
  QuotaError,
  type ReserveReq,
  type Sent,
  UnavailableError,
  UnknownIfSent,
} from '../../../client/src/main.ts'
import { type Message, NotTaken } from './message.ts'

export type Expiry = NonNullable<ReserveReq['onExpiry']>

export interface SendOutcome {
  readonly kind: 'sent' | 'before' | 'unknown' | 'denied' | 'failed' | 'unavailable' | 'refused'
  /** How often `send` was called. */
  readonly sends: number
  /** How it was paid if not by its reservation, or the code of the refusal. */
  readonly detail: string
  /** Whether the call found an outage. */
  readonly isOutage: boolean
  /** Whether it came with the reservation. */
  readonly isReserved: boolean
}

/** What a message is asked for with. */
export interface Asked extends Message {
  readonly type: string
  readonly onExpiry: Expiry
}

/** As short as outages are, so that reservations expire in some. */
export const TTL_SECONDS = 3

/** @param send throws NotTaken and UnknownIfSent */
export async function ask(client: Client, asked: Asked, send: () => Promise<unknown>): Promise<SendOutcome> {
  let sends = 0
  const { userId, id, units, type, onExpiry } = asked
  const request = { userId, id, units, messageType: type, ttlSeconds: TTL_SECONDS, onExpiry }
  const nothing = { detail: '', isOutage: false, isReserved: false }
  try {
    const result = await client.withReservation(request, () => {
      sends += 1
      return send()
    })
    return { ...nothing, ...outcomeOf(result), sends }
  } catch (error) {
    if (error instanceof NotTaken) return { ...nothing, kind: 'failed', sends }
    if (error instanceof UnavailableError) return { ...nothing, kind: 'unavailable', isOutage: error.isOutage, sends }
    if (error instanceof QuotaError) return { ...nothing, kind: 'refused', detail: error.code, sends }
    throw error
  }
}

function outcomeOf(result: Sent<unknown>): Pick<SendOutcome, 'kind'> & Partial<SendOutcome> {
  if (!result.granted) return { kind: 'denied' }
  if (result.sent !== true)
    return { kind: result.sent === 'before' ? 'before' : 'unknown', isReserved: result.reservation !== null }
  if (result.settled !== null) return { kind: 'sent', isReserved: true }
  const isOutage = result.error instanceof UnavailableError && result.error.isOutage
  if (result.isDebt) return { kind: 'sent', detail: 'as a debt', isOutage }
  return { kind: 'sent', detail: result.isLeased ? 'from a lease' : '', isOutage }
}

/** What a provider's answer means to its sender. @throws NotTaken and UnknownIfSent */
export function sentOrThrow(outcome: unknown): 'sent' {
  if (outcome === 'unknown') throw new UnknownIfSent()
  if (outcome !== 'sent') throw new NotTaken('the provider did not take it')
  return 'sent'
}
