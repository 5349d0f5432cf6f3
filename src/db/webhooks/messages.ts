/** Deliveries that become messages to people: claimed with a bound on messages per minute, over all processes. */
import type { EventKey } from '../../domain/event.ts'
import { type EpochMs, MINUTE_MS } from '../../domain/time.ts'
import { MAX_EVENTS_OF_MESSAGE, MAX_MESSAGES_PER_MINUTE } from '../../domain/webhook.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { IS_KEPT, shardsOf } from '../outbox/outbox.ts'
import { CLAIM, CLAIMED, type Claim } from './deliveries.ts'
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
    // One that lies ahead was written by a clock that was.
    const begins = since === null || since > now || now - since >= MINUTE_MS
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
  const key = [shardOfWebhook(id), id]
  const due = await tx.query<EventKey>({
    name: 'delivery-due',
    text: sql`select event_shard as shard, number from webhook_delivery
           where shard = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at <= $3
           order by next_attempt_at limit $4 for update skip locked`,
    values: [...key, timestampParam(now), limit],
  })
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

/** The type of an event. */
export type EventHead = EventKey & { type: string }

/** The types of the events of claims, oldest first, and always in the same order; events that are not kept any more, or erased, are missing. */
export function findEventHeads(db: Database, claims: readonly Claim[]): Promise<EventHead[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    // It makes the planner look up one after the other. A cluster refuses it.
    const oneByOne = tx.isCluster ? sql`` : sql`offset 0`
    return tx.query<EventHead>({
      name: tx.isCluster ? 'outbox-heads-in-cluster' : 'outbox-heads',
      text: sql`select e.shard, e.number, e.type
             from unnest($1::smallint[], $2::bigint[]) as u (shard, number) cross join lateral (
               select * from event e
               where e.shard = u.shard and e.number = u.number and e.shard = any($3::smallint[]) and ${IS_KEPT} ${oneByOne}
             ) e order by e.at, e.shard, e.number`,
      values: [claims.map(({ shard }) => shard), claims.map(({ number }) => number), shardsOf(claims)],
    })
  }, 'snapshot')
}
