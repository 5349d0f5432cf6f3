/** Gives back all units of a reservation: it releases what is reserved and refunds what is committed. */
import type { Settled } from './api.ts'
import { hasCode } from './errors.ts'

interface Named {
  userId: number
  id: string
}

export interface GiveBackCalls {
  release(input: Named): Promise<Settled>
  refund(input: Named): Promise<Settled>
}

/**
 * Releases what is reserved, and refunds what is committed: a commit that arrives after the release is refused. Both may be repeated.
 *
 * @returns false if the service does not know the id
 * @throws UnavailableError, and QuotaError if the service does not let it
 */
export async function giveBack({ release, refund }: GiveBackCalls, { userId, id }: Named): Promise<boolean> {
  const isKnown = await isDone(release({ userId, id }))
  return isKnown && (await isDone(refund({ userId, id })))
}

/** Releases what is reserved, and leaves what is committed. It may be repeated. @throws as `giveBack` does */
export async function releaseIfOpen({ release }: Pick<GiveBackCalls, 'release'>, { userId, id }: Named): Promise<void> {
  await isDone(release({ userId, id }))
}

/** @returns false if the service does not know the id */
async function isDone(call: Promise<Settled>): Promise<boolean> {
  try {
    await call
  } catch (error) {
    if (hasCode(error, 'not_found')) return false
    // There is nothing, or nothing any more, to release or to refund.
    if (!hasCode(error, 'reservation_closed')) throw error
  }
  return true
}
