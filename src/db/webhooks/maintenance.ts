/**
 * The work that follows in pages on a change of a webhook with many deliveries: a new beginning, another digest, a deletion, and
 * the removal of deliveries that ended long ago.
 */

import type { EventKey } from '../../domain/events/event.ts'
import { LONGEST_WAIT_MS } from '../../domain/time/backoff.ts'
import { CLOCK_MARGIN_MS, type EpochMs } from '../../domain/time/time.ts'
import { dueAt } from '../../domain/webhooks/digest.ts'
import { type Digest, ROTATION_OVERLAP_MS } from '../../domain/webhooks/webhook.ts'
import type { Database, Queryable, Transaction } from '../connection/database.ts'
import { sql, sqlInteger } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { IS_PENDING, RESTART, sameDelivery } from './deliveries.ts'
import { shardOfWebhook } from './webhooks.ts'

/**
 * Has every pending delivery of a webhook begin a new series of attempts: those that are due begin it when they are
 * claimed, and `restartPage` makes the others due.
 */
export async function restartPending(tx: Transaction, id: number, now: EpochMs): Promise<void> {
  await tx.query({
    text: sql`update webhook set restarted_at = $3 where shard = $1 and id = $2`,
    values: [shardOfWebhook(id), id, timestampParam(now)],
  })
  await movePending(tx, id, now)
}

/** Has the deliveries that wait for the hour of a digest wait for that of the present one, or be due: `restartPage` moves them. */
export async function movePending(tx: Transaction, id: number, now: EpochMs): Promise<void> {
  await tx.query({
    text: sql`update webhook_cursor set restart_from = $3 where shard = $1 and webhook_id = $2`,
    values: [shardOfWebhook(id), id, timestampParam(now)],
  })
}

/**
 * Makes a page of the deliveries due that `restartPending` has left, and moves those of `movePending`. Returns whether there are
 * more. It does nothing while another process writes deliveries of the webhook.
 *
 * @param limit deliveries to read, at most
 */
export function restartPage(db: Database, id: number, now: EpochMs, limit: number): Promise<boolean> {
  const shard = shardOfWebhook(id)
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [cursor] = await tx.query<{ restart_from: EpochMs | null; digest: Digest | null }>({
      text: sql`select c.restart_from, w.digest from webhook_cursor c join webhook w on w.shard = c.shard and w.id = c.webhook_id
             where c.shard = $1 and c.webhook_id = $2 for update of c skip locked`,
      values: [shard, id],
    })
    if (cursor === undefined || cursor.restart_from === null) return false
    const from = cursor.restart_from
    const [page] = await tx.query<{ read: number; restarted: number; reached: EpochMs | null }>({
      name: 'delivery-restart',
      text: sql`with page as materialized (
               select shard, webhook_id, event_shard, number, next_attempt_at from webhook_delivery
               where shard = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at >= $3
               order by next_attempt_at limit $5
             ), restarted as (
               update webhook_delivery d set ${RESTART}, next_attempt_at = case when d.began_at is null then $6 else $4 end
               from page p join webhook w on w.shard = p.shard and w.id = p.webhook_id
               where ${sameDelivery(sql`d`, sql`p`)} and d.shard = $1 and w.shard = $1 and ${IS_PENDING}
                 and (d.began_at <= w.restarted_at or d.began_at is null and d.next_attempt_at > $4 and d.next_attempt_at <> $6)
               returning 1
             )
             select count(*) as read, max(next_attempt_at) as reached, (select count(*) from restarted) as restarted
             from page`,
      values: [shard, id, timestampParam(from), timestampParam(now), limit, timestampParam(dueAt(cursor.digest, now))],
    })
    const hasMore = page !== undefined && page.reached !== null && page.read === limit
    // Restarted deliveries leave the range, or are passed over when they are read again. A page of others that are all due at one time is passed over.
    const next = hasMore ? Math.max(page.reached ?? from, page.restarted > 0 ? from : from + 1) : null
    await tx.query({
      text: sql`update webhook_cursor set restart_from = $3 where shard = $1 and webhook_id = $2`,
      values: [shard, id, timestampParam(next)],
    })
    return hasMore
  })
}

/** Deliveries of a page that are taken back. */
const TAKEN_BACK = 5_000

/**
 * Takes back what a clock that was ahead has written of webhooks: since when attempts fail, when they began anew, and until when
 * the secret before signs. Resolves when all of it lies in the past, or in the time that is possible.
 */
export async function takeBackWebhooks(db: Queryable, now: EpochMs): Promise<void> {
  await db.query({
    name: 'webhook-take-back',
    text: sql`update webhook set failing_since = least(failing_since, $1), restarted_at = least(restarted_at, $1),
             previous_until = least(previous_until, $3)
           where failing_since > $2 or restarted_at > $2 or previous_until > $4`,
    values: [0, CLOCK_MARGIN_MS, ROTATION_OVERLAP_MS, ROTATION_OVERLAP_MS + CLOCK_MARGIN_MS].map(ms =>
      timestampParam(now + ms),
    ),
  })
}

/** Makes a page of deliveries due that a clock which was ahead has planned for later than any attempt is. */
export async function takeBackDeliveries(db: Database, id: number, now: EpochMs): Promise<void> {
  await db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    await tx.query({
      name: 'delivery-take-back',
      text: sql`with ahead as materialized (
               select shard, webhook_id, event_shard, number from webhook_delivery
               where shard = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at > $4
               order by next_attempt_at limit ${sqlInteger(TAKEN_BACK)} for update skip locked
             )
             update webhook_delivery d set next_attempt_at = $3, began_at = least(d.began_at, $3)
             from ahead where ${sameDelivery(sql`d`, sql`ahead`)} and d.shard = $1`,
      values: [shardOfWebhook(id), id, timestampParam(now), timestampParam(now + LONGEST_WAIT_MS)],
    })
  })
}

/** A webhook whose deliveries are kept, or are still to be removed. */
export interface StoredWebhook {
  id: number
  is_deleted: boolean
}

/** Every webhook, with those that are deleted and still have rows. */
export function listStoredWebhooks(db: Queryable): Promise<StoredWebhook[]> {
  return db.query<StoredWebhook>({
    text: sql`select id, deleted_at is not null as is_deleted from webhook order by id`,
  })
}

/** The delivery after which a removal goes on. The time is a text, to the microsecond. */
export interface RemovalPosition extends EventKey {
  created_at: string
}

/** The outcome of one page. */
export interface RemovedDeliveries {
  removed: number
  /** The last delivery that was read; null: the page was not full, and nothing is left. */
  reached: RemovalPosition | null
}

interface RemovalRow {
  removed: number
  read: number
  created_at: string | null
  shard: EventKey['shard'] | null
  number: number | null
}

/**
 * Removes deliveries that have ended and were created before a time, in that order: of a page of deliveries. Those that
 * are pending, or locked by another transaction, stay.
 *
 * @param limit deliveries to read, at most
 */
export function removeEnded(
  db: Database,
  id: number,
  before: EpochMs,
  after: RemovalPosition | null,
  limit: number,
): Promise<RemovedDeliveries> {
  return removePage(db, limit, {
    name: after === null ? 'delivery-remove-first' : 'delivery-remove-next',
    text: sql`with page as materialized (
             select shard, webhook_id, created_at, event_shard, number from webhook_delivery
             where shard = $1 and webhook_id = $2 and created_at < $3
               ${after === null ? sql`` : sql`and (created_at, event_shard, number) > ($5::timestamptz, $6::smallint, $7::bigint)`}
             order by created_at, event_shard, number limit $4
           ), ended as materialized (
             select d.shard, d.webhook_id, d.event_shard, d.number
             from page p join webhook_delivery d on ${sameDelivery(sql`d`, sql`p`)}
             where d.shard = $1 and d.status <> 'pending' for update of d skip locked
           ), removed as (
             delete from webhook_delivery d using ended e where ${sameDelivery(sql`d`, sql`e`)} and d.shard = $1
             returning 1
           ), last as (
             select * from page order by created_at desc, event_shard desc, number desc limit 1
           )
           select (select count(*) from removed) as removed, (select count(*) from page) as read,
             last.created_at::text, last.event_shard as shard, last.number
           from (values (1)) one left join last on true`,
    values: [
      shardOfWebhook(id),
      id,
      timestampParam(before),
      limit,
      ...(after === null ? [] : [after.created_at, after.shard, after.number]),
    ],
  })
}

/**
 * Removes a page of the deliveries of a deleted webhook, in the order of their keys.
 *
 * @param limit deliveries to remove, at most
 */
export function removeDeliveries(
  db: Database,
  id: number,
  after: RemovalPosition | null,
  limit: number,
): Promise<RemovedDeliveries> {
  return removePage(db, limit, {
    name: 'delivery-remove-all',
    text: sql`with page as materialized (
             select shard, webhook_id, event_shard, number from webhook_delivery
             where shard = $1 and webhook_id = $2 and (event_shard, number) > ($3::smallint, $4::bigint)
             order by event_shard, number limit $5
           ), removed as (
             delete from webhook_delivery d using page p where ${sameDelivery(sql`d`, sql`p`)} and d.shard = $1
             returning 1
           ), last as (
             select * from page order by event_shard desc, number desc limit 1
           )
           select (select count(*) from removed) as removed, (select count(*) from page) as read, '' as created_at,
             last.event_shard as shard, last.number
           from (values (1)) one left join last on true`,
    values: [shardOfWebhook(id), id, after?.shard ?? -1, after?.number ?? -1, limit],
  })
}

async function removePage(
  db: Database,
  limit: number,
  statement: Parameters<Queryable['query']>[0],
): Promise<RemovedDeliveries> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [row] = await tx.query<RemovalRow>(statement)
    if (row === undefined) throw new Error('the database returned no row')
    const { removed, read, created_at, shard, number } = row
    const isLast = read < limit || created_at === null || shard === null || number === null
    return { removed, reached: isLast ? null : { created_at, shard, number } }
  })
}

/**
 * Removes the row of a deleted webhook, unless it has deliveries still: then it returns false. The lock keeps others from
 * writing deliveries meanwhile.
 */
export function removeWebhook(db: Database, id: number): Promise<boolean> {
  const values = [shardOfWebhook(id), id]
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    await tx.query({
      text: sql`select 1 from webhook_cursor where shard = $1 and webhook_id = $2 for update`,
      values,
    })
    const rows = await tx.query({
      text: sql`delete from webhook w where w.shard = $1 and w.id = $2 and w.deleted_at is not null
               and not exists (select 1 from webhook_delivery d where d.shard = $1 and d.webhook_id = $2)
             returning id`,
      values,
    })
    return rows.length > 0
  })
}
