import type { EventKey } from '../domain/event.ts'
import type { EpochMs } from '../domain/time.ts'
import type { DeliveryStatus } from '../domain/webhook.ts'
import type { Database, Queryable } from './database.ts'
import { RESTART } from './deliveries.ts'
import { FAN_OUT_PAGE, findRedelivery, type RedeliveryScope, redeliverRange } from './fan-out.ts'
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

/** Of a delivery `d` and its event. */
const COLUMNS = `d.event_shard as shard, d.number, e.type, d.status, d.attempts, d.next_attempt_at, d.last_attempt_at,
  d.response_code, d.error, d.created_at`
/** Retention may have removed the event. */
const WITH_EVENT = 'left join event e on e.shard = d.event_shard and e.number = d.number'

/** A page of a webhook's deliveries, newest first. */
export async function listDeliveries(
  db: Queryable,
  id: number,
  { status, after, limit }: { status?: DeliveryStatus; after?: DeliveryKey; limit: number },
): Promise<{ deliveries: Delivery[]; next: DeliveryKey | null }> {
  const rows = await db.query<Delivery>({
    text: `select ${COLUMNS}
           from (
             select * from webhook_delivery
             where shard = $1 and webhook_id = $2 and ($3::text is null or status = $3::text)
               and ($4::timestamptz is null or (created_at, event_shard, number) < ($4::timestamptz, $5::smallint, $6::bigint))
             order by created_at desc, event_shard desc, number desc limit $7
           ) d
           ${WITH_EVENT}
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

/** A delivery of a webhook; undefined if there is none. */
export async function findDelivery(db: Queryable, id: number, key: EventKey): Promise<Delivery | undefined> {
  const [delivery] = await db.query<Delivery>({
    text: `select ${COLUMNS} from webhook_delivery d ${WITH_EVENT}
           where d.shard = $1 and d.webhook_id = $2 and d.event_shard = $3 and d.number = $4`,
    values: [shardOfWebhook(id), id, key.shard, key.number],
  })
  return delivery
}

/** Makes a delivery due again, regardless of its status. Returns whether it exists. */
export async function redeliver(db: Queryable, id: number, key: EventKey, now: EpochMs): Promise<boolean> {
  const rows = await db.query({
    text: `update webhook_delivery d set ${RESTART}, next_attempt_at = $5
           where d.shard = $1 and d.webhook_id = $2 and d.event_shard = $3 and d.number = $4
             and exists (select 1 from webhook w where w.shard = $1 and w.id = $2 and w.deleted_at is null)
           returning d.number`,
    values: [shardOfWebhook(id), id, key.shard, key.number, timestampParam(now)],
  })
  return rows.length > 0
}

/**
 * Makes deliveries due again for all events since a time that the webhook takes, including events from before the
 * webhook was created. Events that fan-out has not reached yet are not among them: it delivers those. Each page is a
 * transaction of its own, so an interrupted call may be repeated. Returns how many, or undefined if there is no such
 * webhook.
 *
 * @param scope which of the events; `failed`: those whose delivery has failed
 * @param page events that one transaction reads
 */
export async function redeliverSince(
  db: Database,
  id: number,
  since: EpochMs,
  now: EpochMs,
  scope: RedeliveryScope = 'all',
  page = FAN_OUT_PAGE,
): Promise<number | undefined> {
  const spans = await findRedelivery(db, id, since)
  if (spans === undefined) return undefined
  let count = 0
  for (const { shard, first, last } of spans) {
    for (let after = first - 1; after < last; after += page) {
      const range = { shard, after, until: Math.min(last, after + page) }
      const done = await redeliverRange(db, id, range, since, now, scope)
      if (done === undefined) return undefined
      count += done
    }
  }
  return count
}
