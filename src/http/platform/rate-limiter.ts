/** A limit of calls per client and time. Each process counts for itself. */
import { MINUTE_MS } from '../../domain/time/time.ts'
import { Problem } from '../../errors.ts'
import { createExpiringMap } from './expiring-map.ts'

export interface RateLimiter {
  /** Counts a call and returns 0; or, above the limit, counts nothing and returns the milliseconds until the next one may come. */
  take(client: string): number
  /** The milliseconds until the client has room for this many calls, by default one: what `take` would return now. Counts nothing. */
  waitOf(client: string, calls?: number): number
  /** Counts calls that were not asked for, also above the limit: the client's next ones wait until they are paid off. */
  charge(client: string, calls: number): void
}

export interface RateLimiterOptions {
  /** Calls per minute, in the long run: after a pause those of `burstMs` come on top. 0 is no limit. */
  perMinute: number
  /** A client may make the calls of this time at once, and then one at each fraction of it. At most and by default a minute. */
  burstMs?: number
  /**
   * The clients that are remembered are twice as many at most. Above that, those that came first are forgotten, except clients
   * that were charged more than a burst.
   */
  maxClients?: number
  /** Milliseconds of a clock that never goes back. */
  now?: () => number
}

/** More than sums of fractions of a minute are off by. */
const ROUNDING_MS = 0.001

/**
 * The generic cell rate algorithm: a client is one number, the time at which all its calls are paid off at an even rate. That
 * is never more than a minute ahead, unless calls are charged, so others that did not call for a minute can be forgotten.
 */
export function createRateLimiter({
  perMinute,
  burstMs = MINUTE_MS,
  maxClients = 10_000,
  now = () => performance.now(),
}: RateLimiterOptions): RateLimiter {
  if (perMinute === 0) return { take: () => 0, waitOf: () => 0, charge() {} }
  const intervalMs = MINUTE_MS / perMinute
  let recent = new Map<string, number>()
  let older = new Map<string, number>()
  let startedAt = now()

  function forgetOld(at: number): void {
    const isOld = at - startedAt >= MINUTE_MS
    if (!isOld && recent.size < maxClients) return
    // Only charged calls put a client further ahead than this. Charges need a token, so a flood of addresses adds none.
    const keptAfter = isOld ? at : at + burstMs + ROUNDING_MS
    const owing = [...older].filter(([client, paidAt]) => paidAt > keptAfter && !recent.has(client))
    older = new Map([...owing, ...recent])
    recent = new Map()
    startedAt = at
  }

  /** When the calls of the client and this many more are paid off. */
  const paidAtWith = (client: string, calls: number, at: number): number =>
    Math.max(at, recent.get(client) ?? older.get(client) ?? 0) + calls * intervalMs

  /** How long a client waits before a call that is paid off at `paidAt`. Rounded up, so that it finds room then. */
  const waitUntil = (paidAt: number, at: number): number => Math.max(0, Math.ceil(paidAt - at - burstMs - ROUNDING_MS))

  return {
    take(client) {
      const at = now()
      const paidAt = paidAtWith(client, 1, at)
      const waitMs = waitUntil(paidAt, at)
      if (waitMs > 0) return waitMs
      forgetOld(at)
      recent.set(client, paidAt)
      return 0
    },
    waitOf(client, calls = 1) {
      const at = now()
      return waitUntil(paidAtWith(client, calls, at), at)
    },
    charge(client, calls) {
      const at = now()
      const paidAt = paidAtWith(client, calls, at)
      forgetOld(at)
      recent.set(client, paidAt)
    },
  }
}

/** Room for a number of things in any minute, by any caller. */
export interface Room {
  /** Takes room, if there is any. A thing that took some within a minute has it still: what failed is tried again without more. */
  take(thing?: string): boolean
  /** Whether `take` would find some. */
  has(thing: string): boolean
}

/** The things that are remembered, at most: those beyond take room again. */
const MAX_THINGS = 100_000

/** Unlike a rate limiter, which after a pause admits the calls of a minute at once and as many in the course of it. */
export function createRoom(perMinute: number, now = () => performance.now()): Room {
  /** When each of the last ones was taken, in turn. */
  const times = new Float64Array(perMinute).fill(Number.NEGATIVE_INFINITY)
  let oldest = 0
  const taken = createExpiringMap<true>(MINUTE_MS, MAX_THINGS)
  const isFree = (at: number) => at - (times[oldest] ?? at) >= MINUTE_MS
  const has = (thing: string, at: number) => taken.get(thing, at) === true
  return {
    take(thing) {
      const at = now()
      if (thing !== undefined && has(thing, at)) return true
      if (!isFree(at)) return false
      times[oldest] = at
      oldest = (oldest + 1) % perMinute
      if (thing !== undefined) taken.set(thing, true, at + MINUTE_MS)
      return true
    },
    has: thing => isFree(now()) || has(thing, now()),
  }
}

/** @param waitMs until the next call of the client may come */
export function rateLimited(detail: string, waitMs: number): Problem {
  return new Problem('rate_limited', detail, { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}
