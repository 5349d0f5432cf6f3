/**
 * Writes a delivery for each event that a webhook takes. The events stay in the database: each page is one statement over
 * ranges of event numbers, so that its cost is bounded whichever types the webhook takes.
 */

import { type Shard, shardFrom } from '../../domain/basics/shard.ts'
import { CLOCK_MARGIN_MS, type EpochMs } from '../../domain/time/time.ts'
import { dueAt } from '../../domain/webhooks/digest.ts'
import type { Webhook } from '../../domain/webhooks/webhook.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { type Sql, sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { isBehind, type Positions, readOutboxEnds } from '../outbox/outbox.ts'
import { RESTART } from './deliveries.ts'
import { GETS_MESSAGES } from './recipients.ts'
import { IS_ENABLED, shardOfWebhook } from './webhooks.ts'

/** Events that one page reads: some 50 ms of work. */
export const FAN_OUT_PAGE = 4_000

/** The events of a shard whose numbers are after `after`, up to `until`. */
export interface EventRange {
  shard: Shard
  after: number
  until: number
}

/**
 * The next events to read from these positions up to the ends: `limit` at most, taken from all shards evenly. What some
 * shards do not use of their part goes to those with more.
 */
export function nextRanges(positions: Positions, ends: Positions, limit: number): EventRange[] {
  const behind = ends.flatMap((end, index) => {
    const after = positions[index] ?? 0
    return end > after ? [{ shard: shardFrom(index), after, end }] : []
  })
  let left = limit
  return behind
    .toSorted((one, other) => one.end - one.after - (other.end - other.after))
    .flatMap(({ shard, after, end }, index) => {
      const count = Math.min(end - after, Math.ceil(left / (behind.length - index)))
      left -= count
      return count === 0 ? [] : [{ shard, after, until: after + count }]
    })
}

/**
 * Writes a delivery, due at once or at the hour of the digest, for each new event that the webhook takes, of a page of events, and moves its cursor in
 * the same transaction, so that a crash neither loses an event nor writes one twice. Returns whether there are more
 * events. It does nothing while another process fans out for the webhook.
 *
 * @param limit events to read, at most
 */
export function fanOut(db: Database, id: number, now: EpochMs, limit = FAN_OUT_PAGE): Promise<boolean> {
  const shard = shardOfWebhook(id)
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [cursor] = await tx.query<{ positions: Positions }>({
      text: sql`select positions from webhook_cursor where shard = $1 and webhook_id = $2 for update skip locked`,
      values: [shard, id],
    })
    const [webhook] = await tx.query<EventScope & Pick<Webhook, 'digest'>>({
      text: sql`select w.kind, w.types, w.user_ids, w.only_when_low, w.digest from webhook w where w.shard = $1 and w.id = $2 and ${IS_ENABLED}`,
      values: [shard, id],
    })
    if (cursor === undefined || webhook === undefined) return false
    // In this transaction: ends of before a fail-over could lie after the ends of now, and the cursor would skip the
    // events that come to lie between.
    const ends = await readOutboxEnds(tx)
    const ranges = nextRanges(cursor.positions, ends, limit)
    await insertDeliveries(tx, id, webhook, ranges, now)
    const reached = [...cursor.positions]
    for (const range of ranges) reached[range.shard] = range.until
    await tx.query({
      text: sql`update webhook_cursor set positions = $3 where shard = $1 and webhook_id = $2`,
      values: [shard, id, reached],
    })
    return isBehind(reached, ends)
  })
}

/**
 * The events that a webhook takes: of these types, of these users, and thresholds when little is left; null is all. One of the kind `users`
 * takes only those of users who get messages.
 */
type EventScope = Readonly<Pick<Webhook, 'kind' | 'types' | 'user_ids' | 'only_when_low'>>

/**
 * SQL: an event `e` happened when its user had a confirmed address. So another address gets nothing of before. A clock that was ahead when the
 * address was confirmed keeps nothing back.
 */
const hasRecipient = (
  now: Sql,
) => sql`exists (select 1 from user_address a where a.shard = e.shard and a.user_id = e.user_id
  and (a.confirmed_at <= e.at or a.confirmed_at > ${now}::timestamptz) and ${GETS_MESSAGES})`

const whenLowParam = (low: EventScope['only_when_low']) => low && JSON.stringify(low)

/**
 * SQL: an event `e` says that little is left, or is of another type. It is decided by the event alone, so that a redelivery takes the same ones.
 * Nothing is little where nothing bounds what is left; events of versions that did not write it are taken.
 */
const isLow = (low: Sql) => sql`(${low}::jsonb is null or e.type <> 'quota.threshold_reached' or not e.data ? 'sendable'
  or (e.data #>> '{sendable,units}')::numeric < (${low}::jsonb ->> 'units')::numeric
  or (e.data #>> '{sendable,units}')::numeric < (${low}::jsonb ->> 'share')::numeric * (e.data #>> '{quota,limit}')::numeric)`

/** Inserts deliveries of the events in these ranges that the webhook takes. It keeps those that exist. */
async function insertDeliveries(
  tx: Transaction,
  id: number,
  { kind, types, user_ids, only_when_low, digest }: EventScope & Pick<Webhook, 'digest'>,
  ranges: readonly EventRange[],
  now: EpochMs,
): Promise<void> {
  if (ranges.length === 0) return
  const values: SqlValue[] = [
    shardOfWebhook(id),
    id,
    ranges.map(range => range.shard),
    ranges.map(range => range.after),
    ranges.map(range => range.until),
    timestampParam(now),
    timestampParam(dueAt(digest, now)),
  ]
  // Without a filter the index alone answers.
  const ofTypes = types === null ? sql`` : sql`and e.type = any(${bind(values, types)})`
  const ofUsers = user_ids === null ? sql`` : sql`and e.user_id = any(${bind(values, user_ids)})`
  const ofRecipients = kind === 'users' ? sql`and ${hasRecipient(sql`$6`)}` : sql``
  const ofLow = only_when_low === null ? sql`` : sql`and ${isLow(bind(values, whenLowParam(only_when_low)))}`
  await tx.query({
    text: sql`insert into webhook_delivery (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
           select $1, $2, r.shard, e.number, 'pending', $7, $6
           from unnest($3::smallint[], $4::bigint[], $5::bigint[]) as r (shard, after, until)
           join event e on e.shard = r.shard and e.number > r.after and e.number <= r.until ${ofTypes} ${ofUsers} ${ofLow} ${ofRecipients}
           where e.shard = any($3::smallint[])
           on conflict (shard, webhook_id, event_shard, number) do nothing`,
    values,
  })
}

/** The events that a redelivery goes through: those of a shard from `first` on, up to the webhook's cursor. */
export interface RedeliverySpan {
  shard: Shard
  first: number
  last: number
}

/**
 * Finds the beginning and the end, in each shard, of a redelivery of all events since a time: at the webhook's cursor,
 * because fan-out delivers the events after it. Undefined if there is no such webhook.
 */
export async function findRedelivery(db: Database, id: number, since: EpochMs): Promise<RedeliverySpan[] | undefined> {
  const [cursor] = await db.query<{ positions: Positions }>({
    text: sql`select c.positions from webhook_cursor c join webhook w on w.shard = c.shard and w.id = c.webhook_id
           where c.shard = $1 and c.webhook_id = $2 and w.deleted_at is null`,
    values: [shardOfWebhook(id), id],
  })
  if (cursor === undefined) return undefined
  // Clocks of processes differ, so a shard's events are nearly in the order of time.
  const firsts = await findFirstSince(db, cursor.positions, since - CLOCK_MARGIN_MS)
  return cursor.positions.flatMap((last, index) => {
    const first = firsts[index] ?? last + 1
    return first <= last ? [{ shard: shardFrom(index), first, last }] : []
  })
}

/**
 * The number of each shard's first event since a time, by halving: some twenty statements over 64 keys, however many
 * events there are. `last + 1` where there is none up to `last`.
 */
async function findFirstSince(db: Database, last: Positions, since: EpochMs): Promise<number[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const low = last.map(() => 1)
    const high = last.map(end => end + 1)
    for (;;) {
      const open = [...low.keys()].filter(shard => (low[shard] ?? 0) < (high[shard] ?? 0))
      if (open.length === 0) return low
      const middle = open.map(shard => Math.floor(((low[shard] ?? 0) + (high[shard] ?? 0)) / 2))
      const rows = await tx.query<{ shard: Shard }>({
        name: 'event-halving',
        // An event that is not kept any more counts as the next one that is.
        text: sql`select h.shard
               from unnest($1::smallint[], $2::bigint[]) as p (shard, middle)
               join shard_head h on h.shard = p.shard
               join event e on e.shard = h.shard and e.number = greatest(p.middle, h.pruned + 1)
               where h.shard = any($1::smallint[]) and e.at < $3`,
        values: [open, middle, timestampParam(since)],
      })
      const before = new Set<number>(rows.map(({ shard }) => shard))
      for (const [index, shard] of open.entries()) {
        if (before.has(shard)) low[shard] = (middle[index] ?? 0) + 1
        else high[shard] = middle[index] ?? 0
      }
    }
  }, 'snapshot')
}

/** The events that a redelivery sends again: all, or those whose delivery has failed. */
export type RedeliveryScope = 'all' | 'failed'

/** A range of a shard's events whose deliveries are made due again, if they happened since a time and the webhook takes them. */
interface Redelivery extends EventRange, EventScope {
  webhookId: number
  since: EpochMs
  now: EpochMs
  scope: RedeliveryScope
}

/** SQL: an event `e` belongs to a redelivery. */
const IN_RANGE = sql`e.shard = $3 and e.number > $4 and e.number <= $5 and e.at >= $7
  and ($8::text[] is null or e.type = any($8::text[])) and ($9::bigint[] is null or e.user_id = any($9::bigint[])) and ${isLow(sql`$10`)}
  and ($11 <> 'users' or ${hasRecipient(sql`$6`)})`

const WRITE_DUE: Readonly<Record<RedeliveryScope, Sql>> = {
  all: sql`insert into webhook_delivery (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
        select $1, $2, e.shard, e.number, 'pending', $6, $6 from event e where ${IN_RANGE} order by e.number
        on conflict (shard, webhook_id, event_shard, number)
          do update set ${RESTART}, addresses = null, next_attempt_at = excluded.next_attempt_at`,
  // The range of numbers also bounds the deliveries, because a planner without statistics reads those first.
  failed: sql`update webhook_delivery d set ${RESTART}, next_attempt_at = $6 from event e
           where ${IN_RANGE} and d.shard = $1 and d.webhook_id = $2 and d.event_shard = e.shard and d.number = e.number
             and d.number > $4 and d.number <= $5 and d.status = 'failed'`,
}

/** In a cluster, events and deliveries lie in different shards, and have statements of their own. */
const EVENTS_IN_CLUSTER = sql`select e.number from event e where e.shard = $1 and e.number > $2 and e.number <= $3 and e.at >= $4
  and ($5::text[] is null or e.type = any($5::text[])) and ($6::bigint[] is null or e.user_id = any($6::bigint[])) and ${isLow(sql`$7`)}
  and ($8 <> 'users' or ${hasRecipient(sql`$9`)})`

const FAILED_IN_CLUSTER = sql`select min(number) as first, max(number) as last from webhook_delivery
  where shard = $1 and webhook_id = $2 and event_shard = $3 and number > $4 and number <= $5 and status = 'failed'`

const WRITE_DUE_IN_CLUSTER: Readonly<Record<RedeliveryScope, Sql>> = {
  all: sql`insert into webhook_delivery (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
        select h.shard, $2, $3, k.number, 'pending', $5, $5
        from unnest($4::bigint[]) k (number) cross join shard_head h where h.shard = $1 order by k.number
        on conflict (shard, webhook_id, event_shard, number)
          do update set ${RESTART}, addresses = null, next_attempt_at = excluded.next_attempt_at`,
  failed: sql`update webhook_delivery set ${RESTART}, next_attempt_at = $5
           where shard = $1 and webhook_id = $2 and event_shard = $3 and number = any($4::bigint[]) and status = 'failed'`,
}

/**
 * Makes the deliveries due again of the events in a range that the webhook takes and that happened since a time. Returns
 * how many, or undefined if the webhook has been deleted.
 */
export function redeliverRange(
  db: Database,
  id: number,
  range: EventRange,
  since: EpochMs,
  now: EpochMs,
  scope: RedeliveryScope,
): Promise<number | undefined> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    // Deliveries are written under this lock only.
    const [webhook] = await tx.query<EventScope>({
      text: sql`select w.kind, w.types, w.user_ids, w.only_when_low from webhook w join webhook_cursor c on c.shard = w.shard and c.webhook_id = w.id
             where w.shard = $1 and w.id = $2 and w.deleted_at is null for update of c`,
      values: [shardOfWebhook(id), id],
    })
    if (webhook === undefined) return undefined
    const redelivery = { ...range, webhookId: id, since, ...webhook, now, scope }
    return tx.isCluster ? redeliverInCluster(tx, redelivery) : redeliverAtOnce(tx, redelivery)
  })
}

async function redeliverAtOnce(tx: Transaction, redelivery: Redelivery): Promise<number> {
  const { webhookId, shard, after, until, now, since, kind, types, user_ids, only_when_low, scope } = redelivery
  const [row] = await tx.query<{ written: number }>({
    text: sql`with written as (${WRITE_DUE[scope]} returning 1) select count(*) as written from written`,
    values: [
      shardOfWebhook(webhookId),
      webhookId,
      shard,
      after,
      until,
      timestampParam(now),
      timestampParam(since),
      types,
      user_ids,
      whenLowParam(only_when_low),
      kind,
    ],
  })
  return row?.written ?? 0
}

async function redeliverInCluster(tx: Transaction, redelivery: Redelivery): Promise<number> {
  const { webhookId, shard, now, since, kind, types, user_ids, only_when_low, scope } = redelivery
  const key = [shardOfWebhook(webhookId), webhookId, shard]
  const range = scope === 'all' ? redelivery : await failedIn(tx, key, redelivery)
  if (range === undefined) return 0
  const events = await tx.query<{ number: number }>({
    text: EVENTS_IN_CLUSTER,
    values: [
      shard,
      range.after,
      range.until,
      timestampParam(since),
      types,
      user_ids,
      whenLowParam(only_when_low),
      kind,
      timestampParam(now),
    ],
  })
  const written = await tx.query({
    text: sql`${WRITE_DUE_IN_CLUSTER[scope]} returning 1`,
    values: [...key, events.map(({ number }) => number), timestampParam(now)],
  })
  return written.length
}

/** The range of the failed deliveries in a range; undefined if there are none. */
async function failedIn(
  tx: Transaction,
  key: number[],
  { after, until }: EventRange,
): Promise<Pick<EventRange, 'after' | 'until'> | undefined> {
  const [row] = await tx.query<{ first: number | null; last: number | null }>({
    text: FAILED_IN_CLUSTER,
    values: [...key, after, until],
  })
  if (row === undefined || row.first === null || row.last === null) return undefined
  return { after: row.first - 1, until: row.last }
}
