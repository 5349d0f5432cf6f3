import { nextAttemptAt } from '../domain/backoff.ts'
import type { EventKey } from '../domain/event.ts'
import type { EpochMs } from '../domain/time.ts'
import { type Database, type Queryable, timestampParam } from './database.ts'
import { type Positions, readEvents } from './outbox.ts'
import { disableWebhook, shardOfWebhook } from './webhooks.ts'

/** Turning the outbox into deliveries, handing them out, and writing down what became of them. */

/** A webhook that may have something to do. */
export interface BusyWebhook {
  id: number
  positions: Positions
  /** Whether a delivery's time has come. */
  is_due: boolean
}

/** An attempt that is ours to make. */
export interface Claim extends EventKey {
  /** Which attempt it is, from 1: whoever writes its outcome proves by it that nobody else has taken it over. */
  attempts: number
  began_at: EpochMs
}

/** What came of an attempt. */
export interface Attempt {
  delivered: boolean
  response_code: number | null
  error: string | null
}

/** What became of a delivery by an attempt. `stale`: somebody else has it now. */
export type Settled = 'delivered' | 'retried' | 'failed' | 'stale'

/** Every webhook that is enabled, with what it waits for. */
export function findBusyWebhooks(db: Queryable, now: EpochMs): Promise<BusyWebhook[]> {
  return db.query<BusyWebhook>({
    name: 'webhook-busy',
    text: `select w.id, c.positions,
             exists (select 1 from webhook_delivery d where d.shard = w.shard and d.webhook_id = w.id
                     and d.status = 'pending' and d.next_attempt_at <= $1) as is_due
           from webhook w join webhook_cursor c on c.shard = w.shard and c.webhook_id = w.id
           where w.enabled order by w.id`,
    values: [timestampParam(now)],
  })
}

/**
 * Writes a delivery for each event up to the ends that the webhook takes, a page of them, and moves its cursor in the
 * same transaction: whatever dies when, none is left out and none comes in twice. Answers whether there is more. Another
 * process that is at it is not waited for.
 */
export function fanOut(db: Database, id: number, ends: Positions, now: EpochMs, limit = 500): Promise<boolean> {
  const shard = shardOfWebhook(id)
  return db.transaction(async tx => {
    const [cursor] = await tx.query<{ positions: Positions }>({
      text: `select positions from webhook_cursor where shard = $1 and webhook_id = $2 for update skip locked`,
      values: [shard, id],
    })
    const [webhook] = await tx.query<{ types: string[] | null }>({
      text: 'select types from webhook where shard = $1 and id = $2 and enabled',
      values: [shard, id],
    })
    if (cursor === undefined || webhook === undefined) return false
    const { types } = webhook
    const { events, reached } = await readEvents(tx, cursor.positions, ends, types === null ? {} : { types }, limit)
    if (events.length > 0) {
      await tx.query({
        text: `insert into webhook_delivery
                 (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
               select $1, $2, e.event_shard, e.number, 'pending', $5, $5
               from unnest($3::smallint[], $4::bigint[]) as e (event_shard, number)
               on conflict do nothing`,
        values: [shard, id, events.map(event => event.shard), events.map(event => event.number), timestampParam(now)],
      })
    }
    await tx.query({
      text: 'update webhook_cursor set positions = $3 where shard = $1 and webhook_id = $2',
      values: [shard, id, [...reached]],
    })
    return ends.some((head, index) => head > (reached[index] ?? 0))
  })
}

/** Takes deliveries whose time has come. Whoever takes one has until `leaseUntil`; then it counts as lost. */
export async function claimDeliveries(
  db: Queryable,
  id: number,
  now: EpochMs,
  leaseUntil: EpochMs,
  limit: number,
): Promise<Claim[]> {
  return db.query<Claim>({
    name: 'delivery-claim',
    text: `with due as (
             select event_shard, number from webhook_delivery
             where shard = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at <= $3
             order by next_attempt_at limit $5 for update skip locked
           )
           update webhook_delivery d
           set attempts = attempts + 1, began_at = coalesce(began_at, $3), last_attempt_at = $3, next_attempt_at = $4
           from due where d.shard = $1 and d.webhook_id = $2
             and d.event_shard = due.event_shard and d.number = due.number
           returning d.event_shard as shard, d.number, d.attempts, d.began_at`,
    values: [shardOfWebhook(id), id, timestampParam(now), timestampParam(leaseUntil), limit],
  })
}

/**
 * Writes down what came of an attempt. What fails is attempted again later, for three days; a webhook that took nothing
 * in all that time, or says that it is gone, is disabled.
 */
export function settleDelivery(
  db: Database,
  id: number,
  claim: Claim,
  attempt: Attempt,
  now: EpochMs,
  chance: number,
): Promise<Settled> {
  const shard = shardOfWebhook(id)
  return db.transaction(async tx => {
    const isGone = attempt.response_code === 410
    const [row] = await tx.query<{ failures: number; last_attempt_at: EpochMs }>({
      text: `select failures, last_attempt_at from webhook_delivery
             where shard = $1 and webhook_id = $2 and event_shard = $3 and number = $4 and attempts = $5
               and status = 'pending' for update`,
      values: [shard, id, claim.shard, claim.number, claim.attempts],
    })
    if (row === undefined) return 'stale'
    const next = attempt.delivered || isGone ? null : nextAttemptAt(row.failures + 1, claim.began_at, now, chance)
    const settled = attempt.delivered ? 'delivered' : next === null ? 'failed' : 'retried'
    await tx.query({
      text: `update webhook_delivery set status = $5, next_attempt_at = $6, response_code = $7, error = $8,
               failures = failures + $9
             where shard = $1 and webhook_id = $2 and event_shard = $3 and number = $4`,
      values: [
        shard,
        id,
        claim.shard,
        claim.number,
        settled === 'retried' ? 'pending' : settled,
        timestampParam(next),
        attempt.response_code,
        attempt.error,
        attempt.delivered ? 0 : 1,
      ],
    })
    // Only a turn of luck writes the webhook's row: with many deliveries at once everybody would wait for it.
    const [webhook] = await tx.query<{ failing_since: EpochMs | null }>({
      text: 'select failing_since from webhook where shard = $1 and id = $2',
      values: [shard, id],
    })
    const since = webhook?.failing_since ?? null
    if (attempt.delivered === (since !== null)) {
      await tx.query({
        text: 'update webhook set failing_since = $3 where shard = $1 and id = $2',
        values: [shard, id, attempt.delivered ? null : timestampParam(row.last_attempt_at)],
      })
    }
    if (isGone) await disableWebhook(tx, id, 'gone', now)
    else if (settled === 'failed' && since !== null && since <= claim.began_at)
      await disableWebhook(tx, id, 'failing', now)
    return settled
  })
}

/** Gives back attempts that were broken off: they are due at once. */
export async function releaseDelivery(db: Queryable, id: number, claim: Claim, now: EpochMs): Promise<void> {
  await db.query({
    text: `update webhook_delivery set next_attempt_at = $6
           where shard = $1 and webhook_id = $2 and event_shard = $3 and number = $4 and attempts = $5
             and status = 'pending'`,
    values: [shardOfWebhook(id), id, claim.shard, claim.number, claim.attempts, timestampParam(now)],
  })
}

/** Deliveries that wait for an attempt, counted up to a bound. */
export async function countPending(db: Queryable, bound = 100_000): Promise<number> {
  const [row] = await db.query<{ pending: number }>({
    text: `select count(*) as pending from (select 1 from webhook_delivery where status = 'pending' limit $1) as p`,
    values: [bound],
  })
  return row?.pending ?? 0
}

/** Removes what ended and is older than a moment, a page of it. Answers how many. */
export async function forgetDeliveries(db: Queryable, id: number, before: EpochMs, limit = 1_000): Promise<number> {
  const rows = await db.query({
    text: `delete from webhook_delivery d using (
             select event_shard, number from webhook_delivery
             where shard = $1 and webhook_id = $2 and created_at < $3 and status <> 'pending'
             order by created_at limit $4
           ) old
           where d.shard = $1 and d.webhook_id = $2 and d.event_shard = old.event_shard and d.number = old.number
             and d.status <> 'pending'
           returning d.number`,
    values: [shardOfWebhook(id), id, timestampParam(before), limit],
  })
  return rows.length
}
