import { type EventKey, eventIdOf } from '../../domain/events/event.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { DeliveryStatus } from '../../domain/webhooks/webhook.ts'
import type { Database, Queryable, SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { BY_KEYS_IN_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { allOf, cut, type Page, type Slice } from '../lists/pages.ts'
import { shardsOf } from '../outbox/outbox.ts'
import { RESTART } from './deliveries.ts'
import { FAN_OUT_PAGE, findRedelivery, type RedeliveryScope, redeliverRange } from './fan-out.ts'
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
  answer: string | null
  created_at: EpochMs
}

/** The last delivery of a page. */
export interface DeliveryKey extends EventKey {
  created_at: EpochMs
}

const COLUMNS = sql`d.event_shard as shard, d.number, d.status, d.attempts, d.next_attempt_at, d.last_attempt_at, d.response_code,
  d.error, d.answer, d.created_at`

/** Reads the deliveries that a statement selects, newest first, with the types of their events. Retention may have removed these. */
function readDeliveries(db: Database, selected: Sql, values: SqlValue[]): Promise<Delivery[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS_IN_ORDER })
    const text = sql`select ${COLUMNS} from (${selected}) d order by d.created_at desc, d.event_shard desc, d.number desc`
    return withTypes(tx, await tx.query<Omit<Delivery, 'type'>>({ text, values }))
  }, 'snapshot')
}

/** Adds the types of the events, which lie in other shards than the deliveries. */
async function withTypes(db: Queryable, deliveries: readonly Omit<Delivery, 'type'>[]): Promise<Delivery[]> {
  if (deliveries.length === 0) return []
  const events = await db.query<EventKey & { type: string }>({
    text: sql`select e.shard, e.number, e.type
           from unnest($1::smallint[], $2::bigint[]) k (shard, number)
           join event e on e.shard = k.shard and e.number = k.number where e.shard = any($3::smallint[])`,
    values: [deliveries.map(({ shard }) => shard), deliveries.map(({ number }) => number), shardsOf(deliveries)],
  })
  const types = new Map(events.map(event => [eventIdOf(event), event.type]))
  return deliveries.map(delivery => ({ ...delivery, type: types.get(eventIdOf(delivery)) ?? null }))
}

/** A page of a webhook's deliveries, newest first. */
export async function listDeliveries(
  db: Database,
  id: number,
  { status }: { status?: DeliveryStatus | undefined },
  { after, size }: Omit<Page<DeliveryKey>, 'now'>,
): Promise<Slice<Delivery, DeliveryKey>> {
  const values: SqlValue[] = [shardOfWebhook(id), id]
  const conditions = [sql`shard = $1 and webhook_id = $2`]
  if (status !== undefined) conditions.push(sql`status = ${bind(values, status)}`)
  if (after !== undefined) {
    const key = [timestampParam(after.created_at), after.shard, after.number].map(value => bind(values, value))
    conditions.push(sql`(created_at, event_shard, number) < (${joinSql(key)})`)
  }
  const rows = await readDeliveries(
    db,
    sql`select * from webhook_delivery where ${allOf(conditions)}
     order by created_at desc, event_shard desc, number desc limit ${bind(values, size + 1)}`,
    values,
  )
  return cut(rows, size, ({ created_at, shard, number }) => ({ created_at, shard, number }))
}

/** A delivery of a webhook; undefined if there is none. */
export async function findDelivery(db: Database, id: number, key: EventKey): Promise<Delivery | undefined> {
  const [delivery] = await readDeliveries(
    db,
    sql`select * from webhook_delivery where shard = $1 and webhook_id = $2 and event_shard = $3 and number = $4`,
    [shardOfWebhook(id), id, key.shard, key.number],
  )
  return delivery
}

/** Makes a delivery due again, regardless of its status. Returns whether it exists. */
export async function redeliver(db: Queryable, id: number, key: EventKey, now: EpochMs): Promise<boolean> {
  const rows = await db.query({
    text: sql`update webhook_delivery d set ${RESTART}, addresses = null, next_attempt_at = $5
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
