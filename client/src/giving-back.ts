/** Gives back the units of a reservation: it releases what is reserved and refunds what is committed. */
import type { AuthoredReservation, Settled } from './api.ts'
import { hasCode, isNotFound } from './errors.ts'
import { type MessageName, messageOf } from './user.ts'

export interface GiveBackCalls {
  release(input: MessageName): Promise<Settled>
  refund(input: MessageName): Promise<Settled>
}

export interface UnsentCalls extends GiveBackCalls {
  getReservation(input: MessageName): Promise<AuthoredReservation>
}

/** A message that was not sent by the one who gives back its units. */
export interface Unsent extends MessageName {
  /** Whether a call of that one, or the expiry, may have committed them. Otherwise another one has, and has sent the message. */
  readonly mayBeCommitted: boolean
  /** Whether that one has made the reservation, and not repeated it. */
  readonly isMaker?: boolean
}

/**
 * Gives back a reservation of which only the caller knows the id. A commit that arrives after the release is refused. It may be repeated.
 *
 * @returns false if the service does not know the id
 * @throws UnavailableError, and QuotaError if the service does not let it
 */
export async function giveBack(calls: GiveBackCalls, named: MessageName): Promise<boolean> {
  const message = messageOf(named)
  const left = await release(calls, message)
  if (left === 'committed') await refund(calls, message)
  return left !== 'not known'
}

/**
 * Gives back a message that was not sent. Others may have its id, too: what they have committed stays, as far as that can be seen.
 *
 * @throws as `giveBack` does
 */
export async function giveBackUnsent(
  calls: UnsentCalls,
  { mayBeCommitted, isMaker = false, ...named }: Unsent,
): Promise<void> {
  const message = messageOf(named)
  const left = await release(calls, message)
  if (left !== 'committed' || !mayBeCommitted) return
  const found = await calls.getReservation(message)
  if (!isSentByAnother(found, isMaker)) await refund(calls, message)
}

/** What is booked by force was sent. A commit with the token of another sender is that of another; with the same token, that is not known. */
function isSentByAnother({ actions, madeBy, settledBy }: AuthoredReservation, isMaker: boolean): boolean {
  const isOfAnother = isMaker && madeBy !== null && settledBy !== null && settledBy !== madeBy
  return isOfAnother || actions.some(({ action }) => action === 'force')
}

async function release(calls: GiveBackCalls, message: MessageName): Promise<'committed' | 'nothing' | 'not known'> {
  try {
    const { committed } = await calls.release(message)
    return committed > 0 ? 'committed' : 'nothing'
  } catch (error) {
    if (isNotFound(error)) return 'not known'
    if (!hasCode(error, 'reservation_closed')) throw error
    return 'committed'
  }
}

async function refund(calls: GiveBackCalls, message: MessageName): Promise<void> {
  try {
    await calls.refund(message)
  } catch (error) {
    // There is nothing to refund any more.
    if (!isNotFound(error) && !hasCode(error, 'reservation_closed')) throw error
  }
}
