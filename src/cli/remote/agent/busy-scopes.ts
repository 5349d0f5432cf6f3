/** Which users send so often that a lease is worth its calls. */
import type { LeaseScope } from '../../../../client/src/lease-pool.ts'

/** This many messages in this many milliseconds. A lease costs three operations a slice, which lives for half a minute. */
const BUSY_MESSAGES = 10
const BUSY_MS = 10_000
/** Users, countries and types that are counted at a time. */
const MAX_COUNTED = 10_000

interface Count {
  messages: number
  readonly until: number
}

/** @returns counts a message, and says whether its user, country and type are busy */
export function createBusyScopes(now: () => number): (scope: LeaseScope) => boolean {
  /** The oldest count first. */
  const counts = new Map<string, Count>()
  return ({ userId, country = '', messageType = '' }) => {
    const key = `${userId} ${country} ${messageType}`
    const known = counts.get(key)
    if (known !== undefined && known.until > now()) {
      known.messages += 1
      return known.messages >= BUSY_MESSAGES
    }
    counts.delete(key)
    const [oldest] = counts.keys()
    if (counts.size >= MAX_COUNTED && oldest !== undefined) counts.delete(oldest)
    counts.set(key, { messages: 1, until: now() + BUSY_MS })
    return false
  }
}
