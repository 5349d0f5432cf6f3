/** Deliveries that become messages to people: claimed with a bound on messages per minute, over all processes. */
import { type EventKey, eventIdOf } from '../../domain/events/event.ts'
import { CLOCK_MARGIN_MS, type EpochMs, MINUTE_MS } from '../../domain/time/time.ts'
import { MAX_EVENTS_OF_MESSAGE, MAX_MESSAGES_PER_MINUTE } from '../../domain/webhooks/webhook.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { IS_KEPT, shardsOf } from '../outbox/outbox.ts'
import { CLAIM, CLAIMED, type Claim } from './deliveries.ts'
import { type Recipient, takeTurns } from './recipients.ts'
import { IS_ENABLED, shardOfWebhook } from './webhooks.ts'

export interface ClaimedMessages {
  claims: Claim[]
  /** Whether one message is about all of them. */
  isOne: boolean
}

const NONE: ClaimedMessages = { claims: [], isOne: false }

/**
 * Claims deliveries that are due, as many as there may still be messages in this minute. If more are due when a minute begins, it
 * claims a page of them for one message, and no more until that minute is over. With a digest, each page is one message. The row in
 * `webhook_cursor` counts the messages.
 */
export function claimMessages(db: Database, id: number, now: EpochMs, leaseUntil: EpochMs): Promise<ClaimedMessages> {
  const key = [shardOfWebhook(id), id]
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const [cursor] = await tx.query<{ messages: number; messages_since: EpochMs | null; is_digest: boolean }>({
      text: sql`select c.messages, c.messages_since, w.digest is not null as is_digest
             from webhook_cursor c join webhook w on w.shard = c.shard and w.id = c.webhook_id
             where c.shard = $1 and c.webhook_id = $2 for update of c`,
      values: key,
    })
    if (cursor === undefined) return NONE
    const since = cursor.messages_since
    const begins = since === null || since > now + CLOCK_MARGIN_MS || now - since >= MINUTE_MS
    const sent = begins ? 0 : cursor.messages
    const [due] = await tx.query<{ count: number }>({
      name: 'delivery-count-due',
      text: sql`select count(*) as count from (
               select from webhook_delivery
               where shard = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at <= $3 limit $4
             ) d`,
      values: [...key, timestampParam(now), MAX_MESSAGES_PER_MINUTE + 1],
    })
    const left = MAX_MESSAGES_PER_MINUTE - sent
    if (left <= 0) return NONE
    const isMany = begins && due !== undefined && due.count > MAX_MESSAGES_PER_MINUTE
    const isOne = cursor.is_digest || isMany
    const limit = isOne ? MAX_EVENTS_OF_MESSAGE : left
    const claims = await claimDue(tx, id, now, leaseUntil, limit)
    if (claims.length === 0) return NONE
    const messages = cursor.is_digest ? sent + 1 : isMany ? MAX_MESSAGES_PER_MINUTE : sent + claims.length
    await tx.query({
      text: sql`update webhook_cursor set messages = $3, messages_since = $4 where shard = $1 and webhook_id = $2`,
      values: [...key, messages, timestampParam(begins ? now : since)],
    })
    return { claims, isOne: isOne && claims.length > 1 }
  })
}

/**
 * Claims deliveries that are due, those of each shard of events in a statement: a planner may join the keys of thousands from the wrong
 * side, and reads all deliveries for each.
 */
async function claimDue(
  tx: Transaction,
  id: number,
  now: EpochMs,
  leaseUntil: EpochMs,
  limit: number,
): Promise<Claim[]> {
  return claimLocked(tx, id, await lockDue(tx, id, now, limit), now, leaseUntil)
}

/** Locks deliveries that are due, those first that have waited longest. */
function lockDue(tx: Transaction, id: number, now: EpochMs, limit: number): Promise<EventKey[]> {
  return tx.query<EventKey>({
    name: 'delivery-due',
    text: sql`select event_shard as shard, number from webhook_delivery
           where shard = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at <= $3
           order by next_attempt_at limit $4 for update skip locked`,
    values: [shardOfWebhook(id), id, timestampParam(now), limit],
  })
}

async function claimLocked(
  tx: Transaction,
  id: number,
  due: readonly EventKey[],
  now: EpochMs,
  leaseUntil: EpochMs,
): Promise<Claim[]> {
  const key = [shardOfWebhook(id), id]
  const claims: Claim[] = []
  for (const [shard, some] of Map.groupBy(due, event => event.shard)) {
    const claimed = await tx.query<Claim>({
      name: 'delivery-claim-due',
      text: sql`update webhook_delivery d set ${CLAIM} from webhook w
             where d.shard = $1 and d.webhook_id = $2 and d.event_shard = $5 and d.number = any($6::bigint[])
               and w.shard = $1 and w.id = $2 and ${IS_ENABLED} returning ${CLAIMED}`,
      values: [...key, timestampParam(now), timestampParam(leaseUntil), shard, some.map(({ number }) => number)],
    })
    claims.push(...claimed)
  }
  return claims
}

/** The type of an event, when it happened, and the user whose it is. */
export type EventHead = EventKey & { type: string; at: EpochMs; user_id: number | null }

/** The types of the events of claims, oldest first, and always in the same order; events that are not kept any more, or erased, are missing. */
export function findEventHeads(db: Database, claims: readonly Claim[]): Promise<EventHead[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return headsIn(tx, claims)
  }, 'snapshot')
}

/** The transaction finds rows by keys (`BY_KEYS`). */
function headsIn(tx: Transaction, keys: readonly EventKey[]): Promise<EventHead[]> {
  // It makes the planner look up one after the other. A cluster refuses it.
  const oneByOne = tx.isCluster ? sql`` : sql`offset 0`
  return tx.query<EventHead>({
    name: tx.isCluster ? 'outbox-heads-in-cluster' : 'outbox-heads',
    text: sql`select e.shard, e.number, e.type, e.at, e.user_id
           from unnest($1::smallint[], $2::bigint[]) as u (shard, number) cross join lateral (
             select * from event e
             where e.shard = u.shard and e.number = u.number and e.shard = any($3::smallint[]) and ${IS_KEPT} ${oneByOne}
           ) e order by e.at, e.shard, e.number`,
    values: [keys.map(({ shard }) => shard), keys.map(({ number }) => number), shardsOf(keys)],
  })
}

/* ── Messages to users about their own events ───────────────────────────────────────────────────────────────────── */

/** The due events of a user, which one message is about. */
interface OwnMessage {
  claims: Claim[]
  heads: readonly EventHead[]
  to: Recipient
}

export interface ClaimedForUsers {
  messages: OwnMessage[]
  /** Of users who get no messages any more, or who have confirmed another address since. */
  unwanted: Claim[]
  /** Deliveries whose events are not kept any more. */
  gone: Claim[]
  /** Whether there may be more that are due. */
  hasMore: boolean
}

/** Deliveries that one claim reads. */
const DUE_AT_ONCE = 1_000

/**
 * Claims what is due of some users: all that is due of a user, of these deliveries, becomes one message. Deliveries of a user whose last
 * message went out less than a minute ago are due when that minute is over.
 *
 * @param users at most
 */
export function claimForUsers(
  db: Database,
  id: number,
  now: EpochMs,
  leaseUntil: EpochMs,
  users: number,
): Promise<ClaimedForUsers> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const due = await lockDue(tx, id, now, DUE_AT_ONCE)
    const heads = (await headsIn(tx, due)).filter(isOfUser)
    const known = new Set(heads.map(eventIdOf))
    const gone = due.filter(key => !known.has(eventIdOf(key)))
    const byUser = [...Map.groupBy(heads.toSorted(byNumber), head => head.user_id)]
    const some = new Map(byUser.slice(0, users))
    const turns = await takeTurns(tx, [...some.keys()], now)
    const ready: Pick<OwnMessage, 'heads' | 'to'>[] = []
    const unwanted: EventHead[] = []
    for (const [user, ofUser] of some) {
      const turn = turns.get(user)
      const isWanted = (head: EventHead) =>
        turn !== undefined && (head.at >= turn.confirmed_at || turn.confirmed_at > now)
      unwanted.push(...ofUser.filter(head => !isWanted(head)))
      const wanted = ofUser.filter(isWanted)
      if (turn === undefined || wanted.length === 0) continue
      if (turn.next_at === null) ready.push({ heads: wanted, to: turn.recipient })
      else await postpone(tx, id, wanted, turn.next_at)
    }
    const keys = [...gone, ...unwanted, ...ready.flatMap(message => message.heads)]
    const claims = await claimLocked(tx, id, keys, now, leaseUntil)
    const claimed = new Map(claims.map(claim => [eventIdOf(claim), claim]))
    const claimsOf = (some: readonly EventKey[]) => some.flatMap(key => claimed.get(eventIdOf(key)) ?? [])
    return {
      messages: ready.map(message => ({ ...message, claims: claimsOf(message.heads) })).filter(hasClaims),
      unwanted: claimsOf(unwanted),
      gone: claimsOf(gone),
      hasMore: byUser.length > users || due.length === DUE_AT_ONCE,
    }
  })
}

const isOfUser = (head: EventHead): head is EventHead & { user_id: number } => head.user_id !== null
/** The events of a user are in one shard. */
const byNumber = (one: EventKey, other: EventKey) => one.number - other.number
const hasClaims = ({ claims }: Pick<OwnMessage, 'claims'>) => claims.length > 0

/** Makes deliveries of one user due later. They are locked, and of one shard, which is that of the user. */
async function postpone(tx: Transaction, id: number, keys: readonly EventKey[], until: EpochMs): Promise<void> {
  await tx.query({
    name: 'delivery-postpone',
    text: sql`update webhook_delivery set next_attempt_at = $3
           where shard = $1 and webhook_id = $2 and event_shard = any($4::smallint[]) and number = any($5::bigint[])`,
    values: [shardOfWebhook(id), id, timestampParam(until), shardsOf(keys), keys.map(({ number }) => number)],
  })
}
