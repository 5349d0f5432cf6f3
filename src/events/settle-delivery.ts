import { disableWebhook } from '../admin/webhooks.ts'
import type { Database } from '../db/database.ts'
import { type Attempt, type Claim, lockDelivery, recordAttempt } from '../db/deliveries.ts'
import { findWebhook, setFailingSince } from '../db/webhooks.ts'
import { nextAttemptAt } from '../domain/backoff.ts'
import type { EpochMs } from '../domain/time.ts'

/** What an attempt made of its delivery. `stale`: another process has it now. */
export type Settled = 'delivered' | 'retried' | 'failed' | 'stale'

/**
 * Writes the outcome of an attempt. A delivery that failed is attempted again later, for three days. A webhook is
 * disabled if its receiver took nothing in all that time, or answers 410 Gone. `chance` (0 to 1) spreads the retries.
 */
export function settleDelivery(
  db: Database,
  id: number,
  claim: Claim,
  attempt: Attempt,
  now: EpochMs,
  chance: number,
): Promise<Settled> {
  return db.transaction(async tx => {
    const delivery = await lockDelivery(tx, id, claim)
    if (delivery === undefined) return 'stale'
    const failingSince = (await findWebhook(tx, id))?.failing_since ?? null

    const { delivered } = attempt
    const isGone = attempt.response_code === 410
    const next = delivered || isGone ? null : nextAttemptAt(delivery.failures + 1, claim.began_at, now, chance)
    const settled = delivered ? 'delivered' : next === null ? 'failed' : 'retried'
    const tookNothing = settled === 'failed' && failingSince !== null && failingSince <= claim.began_at

    const status = settled === 'retried' ? 'pending' : settled
    await recordAttempt(tx, id, claim, attempt, { status, nextAttemptAt: next })
    // Only the first failure after a success, and the first success after a failure, write the webhook's row. Otherwise
    // the deliveries of a webhook would wait for each other.
    if (delivered === (failingSince !== null)) {
      await setFailingSince(tx, id, delivered ? null : claim.last_attempt_at)
    }
    if (isGone) await disableWebhook(tx, id, 'gone', now)
    else if (tookNothing) await disableWebhook(tx, id, 'failing', now)
    return settled
  })
}
