/** Rows of deliveries: fanned out from the outbox, claimed, and settled. */
import type { EventKey } from '../domain/event.ts'
import type { EpochMs } from '../domain/time.ts'
import type { DeliveryStatus } from '../domain/webhook.ts'
import type { Database, Queryable, Transaction } from './database.ts'
import { isBehind, type Positions, readEvents, readOutboxEnds } from './outbox.ts'
import { timestampParam } from './values.ts'
import { shardOfWebhook } from './webhooks.ts'

/** A webhook that may have events to fan out, or deliveries to attempt. */
export interface BusyWebhook {
  id: number
  positions: Positions
  /** Whether a delivery is due. */
  is_due: boolean
}

/** An attempt that this process has claimed. */
export interface Claim extends EventKey {
  /** The attempt's number, from 1. It proves, when the outcome is written, that no other process has taken it over. */
  attempts: number
  began_at: EpochMs
  /**
   * When the attempt was claimed. It proves that the delivery is still the same one: after a fail-over that lost events
   * another event can have the number.
   */
  last_attempt_at: EpochMs
}

/** The outcome of an attempt. */
export interface Attempt {
  delivered: boolean
  response_code: number | null
  error: string | null
}

/** Every enabled webhook. */
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
 * Writes a delivery for each new event that the webhook takes, a page at most, and moves its cursor in the same
 * transaction, so that a crash neither loses an event nor writes one twice. Returns whether there is more. It does
 * nothing while another process fans out for the webhook.
 */
export function fanOut(db: Database, id: number, now: EpochMs, limit = 500): Promise<boolean> {
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
    // In this transaction: ends of before a fail-over could lie after the ends of now, and the cursor would skip the
    // events that come to lie between.
    const ends = await readOutboxEnds(tx)
    const { events, reached } = await readEvents(tx, cursor.positions, ends, types === null ? {} : { types }, limit)
    await insertDeliveries(tx, id, events, now, 'keep')
    await tx.query({
      text: 'update webhook_cursor set positions = $3 where shard = $1 and webhook_id = $2',
      values: [shard, id, [...reached]],
    })
    return isBehind(reached, ends)
  })
}

/** What begins a new series of attempts, beside the time of the first. */
export const RESTART = `status = 'pending', began_at = null, failures = 0`

/** Writes deliveries that are due at once. Those that exist are kept as they are, or begin a new series of attempts. */
export async function insertDeliveries(
  tx: Transaction,
  id: number,
  events: readonly EventKey[],
  now: EpochMs,
  existing: 'keep' | 'restart',
): Promise<void> {
  if (events.length === 0) return
  const onConflict =
    existing === 'keep' ? 'do nothing' : `do update set ${RESTART}, next_attempt_at = excluded.next_attempt_at`
  await tx.query({
    text: `insert into webhook_delivery (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
           select $1, $2, e.event_shard, e.number, 'pending', $5, $5
           from unnest($3::smallint[], $4::bigint[]) as e (event_shard, number)
           on conflict (shard, webhook_id, event_shard, number) ${onConflict}`,
    values: [
      shardOfWebhook(id),
      id,
      events.map(event => event.shard),
      events.map(event => event.number),
      timestampParam(now),
    ],
  })
}

/**
 * Claims deliveries that are due. This process has until `leaseUntil` to settle each; then its attempt counts as lost.
 */
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
           returning d.event_shard as shard, d.number, d.attempts, d.began_at, d.last_attempt_at`,
    values: [shardOfWebhook(id), id, timestampParam(now), timestampParam(leaseUntil), limit],
  })
}

/** Selects the delivery of a claim, if it still is the claim's. */
const IS_CLAIMED = `shard = $1 and webhook_id = $2 and event_shard = $3 and number = $4 and attempts = $5
  and last_attempt_at = $6 and status = 'pending'`

const claimParams = (id: number, { shard, number, attempts, last_attempt_at }: Claim) => [
  shardOfWebhook(id),
  id,
  shard,
  number,
  attempts,
  timestampParam(last_attempt_at),
]

/** Locks the delivery of an attempt; undefined if another process has taken it over, or it is gone. */
export async function lockDelivery(
  tx: Transaction,
  id: number,
  claim: Claim,
): Promise<{ failures: number } | undefined> {
  const [row] = await tx.query<{ failures: number }>({
    text: `select failures from webhook_delivery where ${IS_CLAIMED} for update`,
    values: claimParams(id, claim),
  })
  return row
}

/** Writes the outcome of an attempt. `nextAttemptAt` is null unless the status is `pending`. */
export async function recordAttempt(
  tx: Transaction,
  id: number,
  key: EventKey,
  attempt: Attempt,
  { status, nextAttemptAt }: { status: DeliveryStatus; nextAttemptAt: EpochMs | null },
): Promise<void> {
  await tx.query({
    text: `update webhook_delivery set status = $5, next_attempt_at = $6, response_code = $7, error = $8,
             failures = failures + $9
           where shard = $1 and webhook_id = $2 and event_shard = $3 and number = $4`,
    values: [
      shardOfWebhook(id),
      id,
      key.shard,
      key.number,
      status,
      timestampParam(nextAttemptAt),
      attempt.response_code,
      attempt.error,
      attempt.delivered ? 0 : 1,
    ],
  })
}

/** Has every pending delivery of a webhook begin a new series of attempts. */
export async function restartPending(tx: Transaction, id: number, now: EpochMs): Promise<void> {
  await tx.query({
    text: `update webhook_delivery set ${RESTART}, next_attempt_at = $3
           where shard = $1 and webhook_id = $2 and status = 'pending'`,
    values: [shardOfWebhook(id), id, timestampParam(now)],
  })
}

/** Gives back a claim whose attempt was cut short: the delivery is due at once. */
export async function releaseDelivery(db: Queryable, id: number, claim: Claim, now: EpochMs): Promise<void> {
  await db.query({
    text: `update webhook_delivery set next_attempt_at = $7 where ${IS_CLAIMED}`,
    values: [...claimParams(id, claim), timestampParam(now)],
  })
}

/** How many deliveries wait for an attempt, counted up to a bound. */
export async function countPending(db: Queryable, bound = 100_000): Promise<number> {
  const [row] = await db.query<{ pending: number }>({
    text: `select count(*) as pending from (select 1 from webhook_delivery where status = 'pending' limit $1) as p`,
    values: [bound],
  })
  return row?.pending ?? 0
}

/** Removes deliveries that ended and were created before a time, a page at most. Returns how many. */
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
