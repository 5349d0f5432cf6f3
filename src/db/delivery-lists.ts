import type { EventKey } from '../domain/event.ts'
import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { DeliveryStatus } from '../domain/webhook.ts'
import type { Database, Queryable, Transaction } from './database.ts'
import { insertDeliveries, RESTART } from './deliveries.ts'
import type { Positions } from './outbox.ts'
import { timestampParam } from './values.ts'
import { shardOfWebhook } from './webhooks.ts'

/** Lists of deliveries, and redelivery at an administrator's request. */

export interface Delivery extends EventKey {
  type: string | null
  status: DeliveryStatus
  attempts: number
  next_attempt_at: EpochMs | null
  last_attempt_at: EpochMs | null
  response_code: number | null
  error: string | null
  created_at: EpochMs
}

/** The last delivery of a page. */
export interface DeliveryKey extends EventKey {
  created_at: EpochMs
}

/** A page of a webhook's deliveries, newest first. */
export async function listDeliveries(
  db: Queryable,
  id: number,
  { status, after, limit }: { status?: DeliveryStatus; after?: DeliveryKey; limit: number },
): Promise<{ deliveries: Delivery[]; next: DeliveryKey | null }> {
  const rows = await db.query<Delivery>({
    text: `select d.event_shard as shard, d.number, e.type, d.status, d.attempts, d.next_attempt_at, d.last_attempt_at,
             d.response_code, d.error, d.created_at
           from (
             select * from webhook_delivery
             where shard = $1 and webhook_id = $2 and ($3::text is null or status = $3::text)
               and ($4::timestamptz is null or (created_at, event_shard, number) < ($4::timestamptz, $5::smallint, $6::bigint))
             order by created_at desc, event_shard desc, number desc limit $7
           ) d
           left join event e on e.shard = d.event_shard and e.number = d.number
           order by d.created_at desc, d.event_shard desc, d.number desc`,
    values: [
      shardOfWebhook(id),
      id,
      status ?? null,
      timestampParam(after?.created_at ?? null),
      after?.shard ?? null,
      after?.number ?? null,
      limit + 1,
    ],
  })
  const deliveries = rows.slice(0, limit)
  const last = deliveries.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return {
    deliveries,
    next: hasMore ? { created_at: last.created_at, shard: last.shard, number: last.number } : null,
  }
}

/** Makes a delivery due again, regardless of its status. Returns whether it exists. */
export async function redeliver(db: Queryable, id: number, key: EventKey, now: EpochMs): Promise<boolean> {
  const rows = await db.query({
    text: `update webhook_delivery set ${RESTART}, next_attempt_at = $5
           where shard = $1 and webhook_id = $2 and event_shard = $3 and number = $4 returning number`,
    values: [shardOfWebhook(id), id, key.shard, key.number, timestampParam(now)],
  })
  return rows.length > 0
}

/** Events that one step of a redelivery scans: a fraction of a second's work, far from any timeout. */
const STEP = 5_000

/**
 * Makes deliveries due again for all events since a time that the webhook takes, including events from before the
 * webhook was created. Events that fan-out has not reached yet are not among them: it delivers those. Each step is a
 * transaction of its own, so an interrupted call may be repeated. Returns how many, or undefined if there is no such
 * webhook.
 */
export async function redeliverSince(
  db: Database,
  id: number,
  since: EpochMs,
  now: EpochMs,
  step = STEP,
): Promise<number | undefined> {
  const [cursor] = await db.query<{ positions: Positions }>({
    text: 'select positions from webhook_cursor where shard = $1 and webhook_id = $2',
    values: [shardOfWebhook(id), id],
  })
  if (cursor === undefined) return undefined
  const starts = await db.query<{ shard: Shard; first: number }>({
    text: 'select shard, min(number) as first from event where at >= $1 group by shard order by shard',
    values: [timestampParam(since)],
  })
  let count = 0
  for (const { shard, first } of starts) {
    const last = cursor.positions[shard] ?? 0
    for (let from = first; from <= last; from += step) {
      const span = { shard, from, to: Math.min(last, from + step - 1) }
      const done = await db.transaction(tx => redeliverSpan(tx, id, span, since, now))
      if (done === undefined) return undefined
      count += done
    }
  }
  return count
}

/** Makes the deliveries of a span of one shard's events due again. */
async function redeliverSpan(
  tx: Transaction,
  id: number,
  span: { shard: Shard; from: number; to: number },
  since: EpochMs,
  now: EpochMs,
): Promise<number | undefined> {
  // The lock keeps the webhook from being deleted meanwhile.
  const [webhook] = await tx.query<{ types: string[] | null }>({
    text: `select w.types from webhook w join webhook_cursor c on c.shard = w.shard and c.webhook_id = w.id
           where w.shard = $1 and w.id = $2 for update of c`,
    values: [shardOfWebhook(id), id],
  })
  if (webhook === undefined) return undefined
  const keys = await tx.query<EventKey>({
    text: `select shard, number from event
           where shard = $1 and number >= $2 and number <= $3 and at >= $4
             and ($5::text[] is null or type = any($5::text[]))`,
    values: [span.shard, span.from, span.to, timestampParam(since), webhook.types],
  })
  await insertDeliveries(tx, id, keys, now, 'restart')
  return keys.length
}
