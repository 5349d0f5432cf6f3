import { type Shard, shardOf } from '../../domain/basics/shard.ts'
import type { OutboxEvent } from '../../domain/events/outbox-event.ts'
import { type Sql, sql } from '../connection/sql.ts'
import { bigints, jsons, smallints, texts } from './arrays.ts'
import { USER_SHARD } from './keys.ts'
import { type LedgerCall, type LedgerStatement, ledgerStatement, NOW, type Scope } from './statement.ts'

/** The number of events that a batch adds to a shard's outbox. */
interface EventCount {
  readonly shard: Shard
  readonly count: number
}

/**
 * Takes numbers for a batch's events. It locks the heads of the shards' outboxes, in their order, until the commit, so that
 * the order of numbers is the order of commits. So it runs last, and only in transactions that emit events.
 */
export const advanceOutbox = ledgerStatement<EventCount>(
  'advance-outbox',
  { shard: smallints(({ shard }) => shard), count: bigints(({ count }) => count) },
  ({ k }) => sql`update shard_head h set last_event = h.last_event + k.count from ${k} where h.shard = k.shard`,
)

type NumberedEvent = OutboxEvent & {
  /** Its number less that of the batch's last event in its shard: 0 or negative. */
  relative_number: number
  /** Its place among the batch's events of its user, from 1. */
  nth: number
}

const NUMBERED_COLUMNS: Parameters<typeof ledgerStatement<NumberedEvent>>[1] = {
  ...USER_SHARD,
  relative_number: bigints(event => event.relative_number),
  user_id: bigints(event => event.user_id),
  nth: bigints(event => event.nth),
  type: texts(event => event.type),
  data: jsons(event => event.data),
}

/** SQL: adds the events `k`; a user's are removed from the first on, so the last sequence of those that are left, if any, is the last. */
const insertOf = (k: Sql, now: Sql) => sql`insert into event (shard, number, user_id, sequence, type, at, data)
    select h.shard, h.last_event + k.relative_number, k.user_id,
      k.nth + coalesce(
        (select max(e.sequence) from event e where e.shard = h.shard and e.user_id = k.user_id),
        (select s.last from event_sequence s where s.shard = h.shard and s.user_id = k.user_id), 0),
      k.type, ${now}::timestamptz, k.data::jsonb
    from ${k} join shard_head h on h.shard = k.shard`

export const addNumberedEvents = ledgerStatement<NumberedEvent>('add-events', NUMBERED_COLUMNS, ({ k, bind }) =>
  insertOf(k, bind(NOW)),
)

/** `add-events` through the coordinator of a cluster, which needs to know the shards. */
export const addRoutedEvents = ledgerStatement<NumberedEvent>(
  'add-routed-events',
  NUMBERED_COLUMNS,
  ({ k, shards, bind }) => sql`${insertOf(k, bind(NOW))} where h.shard = any(${shards})`,
)

/**
 * Adds events under the last numbers of their shards, which the statement before took: a statement of its own, so that it
 * sees what that one waited for.
 */
export function addEvents(
  scope: Scope,
  events: readonly OutboxEvent[],
  statement: LedgerStatement<NumberedEvent> = addNumberedEvents,
): LedgerCall {
  const ofUser = new Map<number, number>()
  const ofShard = new Map<Shard, number>()
  const totals = countByShard(events)
  const rows = events.map(event => {
    const shard = shardOf(event.user_id)
    const nth = increment(ofUser, event.user_id)
    return { ...event, nth, relative_number: increment(ofShard, shard) - (totals.get(shard) ?? 0) }
  })
  return statement.call(scope, rows)
}

/** The last calls of a transaction that emits events, in order; none if there are no events. */
export function emitEvents(scope: Scope, events: readonly OutboxEvent[]): LedgerCall[] {
  if (events.length === 0) return []
  const counts = [...countByShard(events)].map(([shard, count]) => ({ shard, count }))
  return [
    advanceOutbox.call(
      scope,
      counts.sort((one, other) => one.shard - other.shard),
    ),
    addEvents(scope, events),
  ]
}

function countByShard(events: readonly OutboxEvent[]): Map<Shard, number> {
  const counts = new Map<Shard, number>()
  for (const { user_id } of events) increment(counts, shardOf(user_id))
  return counts
}

function increment<Key>(counts: Map<Key, number>, key: Key): number {
  const count = 1 + (counts.get(key) ?? 0)
  counts.set(key, count)
  return count
}
