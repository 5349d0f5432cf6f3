/** Rows of deliveries: claimed, and settled. `fan-out.ts` writes them, `webhook-upkeep.ts` removes them. */
import type { EventKey } from '../../domain/events/event.ts'
import { CLOCK_MARGIN_MS, type EpochMs, MINUTE_MS } from '../../domain/time/time.ts'
import { type DeliveryStatus, MAX_MESSAGES_PER_MINUTE } from '../../domain/webhooks/webhook.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { findEvents, type Positions, type StoredEvent } from '../outbox/outbox.ts'
import { IS_ENABLED, shardOfWebhook } from './webhooks.ts'

/** An enabled webhook, which may have events to fan out, or deliveries to attempt. */
export interface BusyWebhook {
  id: number
  positions: Positions
  /** Whether a delivery is due, and may be sent in this minute. */
  is_due: boolean
  /** Whether pending deliveries are still to be made due (`restartPage`). */
  is_restarting: boolean
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
  /** The addresses that still lack the message; null: all of the webhook. */
  addresses: string[] | null
}

/** The outcome of an attempt. */
export interface Attempt {
  delivered: boolean
  response_code: number | null
  error: string | null
  /** What the receiver answered: at most 500 characters, and no part of a secret URL. Left out: nothing, or it may name a user. */
  answer?: string
  /** The header `Retry-After` of an answer that asks to wait: 429 or 503. */
  retry_after?: string
  /** The addresses that a further attempt is for. The server took it for the others, or refused them for good. */
  left?: readonly string[]
  /** It is taken for some addresses, or the address of one user is refused: the receiver works. */
  isTakenForSome?: boolean
  /** The server refused each address for good. */
  isRefused?: boolean
  /** The server took the address, and refused the message for its content. */
  isContentRefused?: boolean
}

/** The state in which an attempt leaves its delivery. `nextAttemptAt` is null unless the status is `pending`. */
export interface Settlement {
  key: EventKey
  attempt: Attempt
  status: DeliveryStatus
  nextAttemptAt: EpochMs | null
}

/** Whether a webhook is enabled: a third of the round trips of `findBusyWebhooks`. */
export async function hasEnabledWebhook(db: Database): Promise<boolean> {
  const rows = await db.query({
    name: 'webhook-enabled',
    text: sql`select from webhook w where ${IS_ENABLED} limit 1`,
  })
  return rows.length > 0
}

/** Every enabled webhook. */
export function findBusyWebhooks(db: Database, now: EpochMs): Promise<BusyWebhook[]> {
  return db.transaction(async tx => {
    const rows = await tx.query<BusyWebhook & { is_same_minute: boolean; messages: number }>({
      name: 'webhook-busy',
      text: sql`select w.id, c.positions, c.restart_from is not null as is_restarting,
               exists (select 1 from webhook_delivery d where d.shard = w.shard and d.webhook_id = w.id
                       and d.status = 'pending' and d.next_attempt_at <= $1) as is_due,
                 coalesce(c.messages_since > $2 and c.messages_since <= $3, false) as is_same_minute, c.messages
             from webhook w join webhook_cursor c on c.shard = w.shard and c.webhook_id = w.id
             where ${IS_ENABLED} order by w.id`,
      values: [now, now - MINUTE_MS, now + CLOCK_MARGIN_MS].map(at => timestampParam(at)),
    })
    return rows.map(({ is_same_minute, messages, is_due, ...webhook }) => {
      const mustWait = is_same_minute && messages >= MAX_MESSAGES_PER_MINUTE
      return { ...webhook, is_due: is_due && !mustWait }
    })
  }, 'keyed snapshot')
}

/**
 * Joins two tables by the key of a delivery. One of them must be a materialized list, and the shard and the webhook come
 * from it: a planner that may use them as constants reads all deliveries of the webhook, because without statistics it
 * takes them for one row.
 */
export function sameDelivery(one: Sql, other: Sql): Sql {
  return joinSql(
    [sql`shard`, sql`webhook_id`, sql`event_shard`, sql`number`].map(
      column => sql`${one}.${column} = ${other}.${column}`,
    ),
    sql` and `,
  )
}

/**
 * Selects pending deliveries, `d`, among those that are found by their keys. Only these have a next attempt. (By
 * `status = 'pending'` a planner without statistics takes the index of what is due, and reads all of it for each key.)
 */
export const IS_PENDING = sql`d.next_attempt_at is not null`

/** SQL: begins a new series of attempts. The time of the first is set beside it. */
export const RESTART = sql`status = 'pending', began_at = null, failures = 0`

/** SQL: claims a delivery `d` of a webhook `w` at $3, until $4. */
export const CLAIM = sql`attempts = d.attempts + 1, last_attempt_at = $3, next_attempt_at = $4,
  began_at = case when d.began_at <= w.restarted_at then $3 else coalesce(d.began_at, $3) end,
  failures = case when d.began_at <= w.restarted_at then 0 else d.failures end`

/** SQL: the columns of a claim. */
export const CLAIMED = sql`d.event_shard as shard, d.number, d.attempts, d.began_at, d.last_attempt_at, d.addresses`

/**
 * Claims deliveries that are due, while the webhook is enabled. This process has until `leaseUntil` to settle each; then
 * its attempt counts as lost. A series that began before the webhook was enabled again begins anew.
 */
export function claimDeliveries(
  db: Database,
  id: number,
  now: EpochMs,
  leaseUntil: EpochMs,
  limit: number,
): Promise<Claim[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return tx.query<Claim>({
      name: 'delivery-claim',
      text: sql`with due as materialized (
               select shard, webhook_id, event_shard, number from webhook_delivery
               where shard = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at <= $3
               order by next_attempt_at limit $5 for update skip locked
             )
             update webhook_delivery d set ${CLAIM}
             from due join webhook w on w.shard = due.shard and w.id = due.webhook_id
             where ${sameDelivery(sql`d`, sql`due`)} and d.shard = $1 and w.shard = $1 and ${IS_ENABLED}
             returning ${CLAIMED}`,
      values: [shardOfWebhook(id), id, timestampParam(now), timestampParam(leaseUntil), limit],
    })
  })
}

/** The events of claims, in no order; events that are not kept any more are missing. */
export function findClaimedEvents(db: Database, claims: readonly Claim[]): Promise<StoredEvent[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return findEvents(tx, claims)
  }, 'snapshot')
}

/** Claims as a table, `c`, of their keys and proofs. In the order of keys, so that two processes cannot deadlock. */
const CLAIMS = sql`c as materialized (
  select $1::smallint as shard, $2::bigint as webhook_id, u.*
  from unnest($3::smallint[], $4::bigint[], $5::int[], $6::timestamptz[]) with ordinality
    as u (event_shard, number, attempts, last_attempt_at, place)
  order by u.event_shard, u.number
)`

/** Selects the deliveries that still are the claims'. */
const IS_CLAIMED = sql`${sameDelivery(sql`d`, sql`c`)} and d.shard = $1
  and d.attempts = c.attempts and d.last_attempt_at = c.last_attempt_at and ${IS_PENDING}`

const claimParams = (id: number, claims: readonly Claim[]) => [
  shardOfWebhook(id),
  id,
  claims.map(({ shard }) => shard),
  claims.map(({ number }) => number),
  claims.map(({ attempts }) => attempts),
  claims.map(({ last_attempt_at }) => timestampParam(last_attempt_at)),
]

/** A delivery that still is its claim's. */
export interface ClaimedDelivery {
  /** The place of the claim in the list, from 1. */
  place: number
  /** Failed attempts of its series. */
  failures: number
}

/**
 * Locks the deliveries of claims. Those that another process has taken over, and those that are gone, are missing. The
 * transaction then finds rows by keys (`BY_KEYS`).
 */
export async function lockDeliveries(
  tx: Transaction,
  id: number,
  claims: readonly Claim[],
): Promise<ClaimedDelivery[]> {
  await tx.query({ text: BY_KEYS })
  return tx.query<ClaimedDelivery>({
    name: 'delivery-lock',
    text: sql`with ${CLAIMS}
           select c.place, d.failures
           from c cross join lateral (select failures from webhook_delivery d where ${IS_CLAIMED} for update) d`,
    values: claimParams(id, claims),
  })
}

/**
 * Deliveries that one statement writes, of those that a message is about. A planner that takes the deliveries of a webhook for few reads
 * all of them for each key (45 s for 4,000 of 10,000). So each statement bounds them by both parts of their keys, too.
 */
const WRITTEN_AT_ONCE = 64
const IS_ONE_OF_KEYS = sql`d.event_shard = any($3::smallint[]) and d.number = any($4::bigint[])`

async function inParts<Item>(
  items: readonly Item[],
  write: (some: readonly Item[]) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < items.length; from += WRITTEN_AT_ONCE)
    await write(items.slice(from, from + WRITTEN_AT_ONCE))
}

/** Writes the outcomes of attempts whose deliveries are locked. */
export async function recordAttempts(tx: Transaction, id: number, settlements: readonly Settlement[]): Promise<void> {
  await inParts(settlements, some =>
    tx.query({
      name: 'delivery-record',
      text: sql`with s as materialized (
               select $1::smallint as shard, $2::bigint as webhook_id, u.*
               from unnest($3::smallint[], $4::bigint[], $5::text[], $6::timestamptz[], $7::smallint[], $8::text[],
                 $9::int[], $10::text[], $11::text[])
                 as u (event_shard, number, status, next_attempt_at, response_code, error, failures, addresses, answer)
             )
             update webhook_delivery d
             set status = s.status, next_attempt_at = s.next_attempt_at, response_code = s.response_code, error = s.error, answer = s.answer,
               failures = d.failures + s.failures,
               addresses = case when s.addresses is null then d.addresses else string_to_array(s.addresses, ',') end
             from s where ${sameDelivery(sql`d`, sql`s`)} and d.shard = $1 and d.webhook_id = $2 and ${IS_ONE_OF_KEYS}`,
      values: [
        shardOfWebhook(id),
        id,
        some.map(({ key }) => key.shard),
        some.map(({ key }) => key.number),
        some.map(({ status }) => status),
        some.map(({ nextAttemptAt }) => timestampParam(nextAttemptAt)),
        some.map(({ attempt }) => attempt.response_code),
        some.map(({ attempt }) => attempt.error),
        some.map(({ attempt }) => (attempt.delivered ? 0 : 1)),
        // No address has a comma. An array of arrays would have to be of one length.
        some.map(({ attempt }) => attempt.left?.join(',') ?? null),
        // What was delivered needs no explanation, and most deliveries are.
        some.map(({ attempt }) => (attempt.delivered ? null : (attempt.answer ?? null))),
      ],
    }),
  )
}

/** Gives back claims whose attempts were not made, or cut short: the deliveries are due at once. */
export async function releaseDeliveries(
  db: Database,
  id: number,
  claims: readonly Claim[],
  now: EpochMs,
): Promise<void> {
  if (claims.length === 0) return
  await db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    await inParts(claims, some =>
      tx.query({
        name: 'delivery-release',
        text: sql`with ${CLAIMS} update webhook_delivery d set next_attempt_at = $7
               from c where ${IS_CLAIMED} and d.webhook_id = $2 and ${IS_ONE_OF_KEYS}`,
        values: [...claimParams(id, some), timestampParam(now)],
      }),
    )
  })
}

/** Deliveries that wait. Their times are null if there is none. */
export interface PendingDeliveries {
  count: number
  /** Since when the oldest could be sent: since it was made, or since the hour of its digest. */
  oldest: EpochMs | null
  /** When the next attempt is due. */
  next_due: EpochMs | null
}

/** The deliveries that wait for an attempt, up to a bound. */
export function readPending(db: Database, bound = 100_000): Promise<PendingDeliveries> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [row] = await tx.query<PendingDeliveries>({
      name: 'delivery-count',
      text: sql`select count(*) as count, min(since) as oldest, min(next_attempt_at) as next_due
             from (
               select case when w.digest is null then d.created_at else coalesce(d.began_at, d.next_attempt_at) end as since, d.next_attempt_at
               from webhook w join webhook_delivery d on d.shard = w.shard and d.webhook_id = w.id and d.status = 'pending'
               where w.deleted_at is null limit $1
             ) p`,
      values: [bound],
    })
    return row ?? { count: 0, oldest: null, next_due: null }
  }, 'snapshot')
}
