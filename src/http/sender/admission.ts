import { Overloaded } from '../../engine/completion.ts'
import type { Principal } from '../auth/claims.ts'
import type { ServerParts } from '../context.ts'
import { createRateLimiter, type RateLimiter, rateLimited } from '../platform/rate-limiter.ts'

/** A sender may make the operations of this time at once. */
const BURST_MS = 1_000

/** Counts the operations of each sender: each call is one, and a batch as many as it holds. */
export function createSenderLimit({
  senderOperationsPerSecond,
}: Pick<ServerParts['settings'], 'senderOperationsPerSecond'>): RateLimiter {
  return createRateLimiter({ perMinute: senderOperationsPerSecond * 60, burstMs: BURST_MS })
}

/** What a call of a sender above its rate or its share of the queue is refused with, before its body is read. Counts the call. */
export function refusalOf(
  { engine, settings, senderLimit }: Pick<ServerParts, 'engine' | 'settings' | 'senderLimit'>,
  { subject }: Principal,
): Error | undefined {
  const waitMs = senderLimit.take(subject)
  if (waitMs > 0) return rateLimited(`At most ${settings.senderOperationsPerSecond} operations per second.`, waitMs)
  return engine.hasRoom(subject) ? undefined : new Overloaded('the principal has its share of the queue')
}
