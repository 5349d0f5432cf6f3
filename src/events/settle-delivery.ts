import { disableWebhook } from '../admin/webhooks/webhooks.ts'
import type { Database } from '../db/connection/database.ts'
import { type Attempt, type Claim, lockDeliveries, recordAttempts, type Settlement } from '../db/webhooks/deliveries.ts'
import { findWebhook, setFailingSince } from '../db/webhooks/webhooks.ts'
import { GIVE_UP_AFTER_MS, nextAttemptAt, retryAfterMs } from '../domain/time/backoff.ts'
import type { EpochMs } from '../domain/time/time.ts'

/** The state of a delivery after an attempt. `stale`: another process has it now. */
export type Settled = 'delivered' | 'retried' | 'failed' | 'stale'

/** An attempt that has ended, and is not settled yet. */
export interface EndedAttempt {
  claim: Claim
  attempt: Attempt
  /**
   * `sent`: the receiver was asked. The others say nothing about it: `unreadable`: the database could not read the event;
   * `gone`: the event is not kept any more, and no further attempt can succeed.
   */
  event: 'sent' | 'unreadable' | 'gone'
}

/**
 * Writes the outcomes of attempts at one webhook, in the order in which they ended, in one transaction. A delivery that
 * failed is attempted again later, for three days. A webhook is disabled if its receiver took nothing in all that time, or
 * answers 410 Gone. `random` returns a number from 0 to 1, which spreads the retries.
 */
export function settleDeliveries(
  db: Database,
  id: number,
  ended: readonly EndedAttempt[],
  now: EpochMs,
  random: () => number,
): Promise<Settled[]> {
  return db.transaction(async tx => {
    const locked = await lockDeliveries(
      tx,
      id,
      ended.map(({ claim }) => claim),
    )
    const failures = new Map(locked.map(delivery => [delivery.place, delivery.failures]))
    const noted = (await findWebhook(tx, id))?.failing_since ?? null
    let failingSince = noted
    let disabled: 'failing' | 'gone' | undefined

    // What one message was about is due again together.
    const chances = new Map(ended.map(({ attempt }) => [attempt, random()]))
    const settlements: Settlement[] = []
    const settled = ended.map((end, index): Settled => {
      const { claim, attempt } = end
      const failed = failures.get(index + 1)
      if (failed === undefined) return 'stale'
      const next = nextAttemptOf(end, failed + 1, now, chances.get(attempt) ?? 0)
      const outcome = attempt.delivered ? 'delivered' : next === null ? 'failed' : 'retried'
      settlements.push({
        key: claim,
        attempt,
        status: outcome === 'retried' ? 'pending' : outcome,
        nextAttemptAt: next,
      })
      if (end.event !== 'sent') return outcome
      const isTaken = attempt.delivered || attempt.isTakenForSome === true
      if (isGone(attempt)) disabled ??= 'gone'
      else if (outcome === 'failed' && !isTaken && failingSince !== null && hasFailedFor(failingSince, end, now))
        disabled ??= 'failing'
      failingSince = isTaken ? null : (failingSince ?? claim.last_attempt_at)
      return outcome
    })

    await recordAttempts(tx, id, settlements)
    // Only the first failure after a success, and the first success after a failure, write the webhook's row. Otherwise
    // the processes that send to a webhook would wait for each other.
    if (failingSince !== noted) await setFailingSince(tx, id, failingSince)
    if (disabled !== undefined) await disableWebhook(tx, id, disabled, now)
    return settled
  })
}

/** Whether nothing succeeded while a delivery was attempted that has failed. One that is refused for good fails at once. */
function hasFailedFor(since: EpochMs, { claim, attempt }: EndedAttempt, now: EpochMs): boolean {
  return attempt.isRefused === true ? since <= now - GIVE_UP_AFTER_MS : since <= claim.began_at
}

const isGone = (attempt: Attempt) => attempt.response_code === 410

/** When to attempt a delivery again; null if never. */
function nextAttemptOf(
  { claim, attempt, event }: EndedAttempt,
  failures: number,
  now: EpochMs,
  chance: number,
): EpochMs | null {
  if (attempt.delivered || isGone(attempt) || attempt.isRefused === true || event === 'gone') return null
  const askedMs = attempt.retry_after === undefined ? 0 : retryAfterMs(attempt.retry_after, now)
  return nextAttemptAt(failures, claim.began_at, now, chance, askedMs)
}
