/** Gives back the units of a reservation: it releases what is reserved and refunds what is committed. */
import type { AuthoredReservation, Settled } from './api.ts'
import { hasCode } from './errors.ts'

interface Named {
  userId: number
  id: string
}

export interface GiveBackCalls {
  release(input: Named): Promise<Settled>
  refund(input: Named): Promise<Settled>
}

export interface UnsentCalls extends GiveBackCalls {
  getReservation(input: Named): Promise<AuthoredReservation>
}

/** A message that was not sent by the one who gives back its units. */
export interface Unsent extends Named {
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
export async function giveBack(calls: GiveBackCalls, { userId, id }: Named): Promise<boolean> {
  const left = await release(calls, { userId, id })
  if (left === 'committed') await refund(calls, { userId, id })
  return left !== 'not known'
}

/**
 * Gives back a message that was not sent. Others may have its id, too: what they have committed stays, as far as that can be seen.
 *
 * @throws as `giveBack` does
 */
export async function giveBackUnsent(calls: UnsentCalls, message: Unsent): Promise<void> {
  const { userId, id, mayBeCommitted, isMaker = false } = message
  const left = await release(calls, { userId, id })
  if (left !== 'committed' || !mayBeCommitted) return
  const found = await calls.getReservation({ userId, id })
  if (!isSentByAnother(found, isMaker)) await refund(calls, { userId, id })
}

/** What is booked by force was sent. A commit with the token of another sender is that of another; with the same token, that is not known. */
function isSentByAnother({ actions, madeBy, settledBy }: AuthoredReservation, isMaker: boolean): boolean {
  const isOfAnother = isMaker && madeBy !== null && settledBy !== null && settledBy !== madeBy
  return isOfAnother || actions.some(({ action }) => action === 'force')
}

async function release(calls: GiveBackCalls, message: Named): Promise<'committed' | 'nothing' | 'not known'> {
  try {
    const { committed } = await calls.release(message)
    return committed > 0 ? 'committed' : 'nothing'
  } catch (error) {
    if (hasCode(error, 'not_found')) return 'not known'
    if (!hasCode(error, 'reservation_closed')) throw error
    return 'committed'
  }
}

async function refund(calls: GiveBackCalls, message: Named): Promise<void> {
  try {
    await calls.refund(message)
  } catch (error) {
    // There is nothing to refund any more.
    if (!hasCode(error, 'not_found') && !hasCode(error, 'reservation_closed')) throw error
  }
}
