import type { OutboxEvent } from '../../domain/outbox-event.ts'
import { bigints, jsons, texts } from './arrays.ts'
import { COUNT, type LedgerCall, ledgerStatement, NOW, type Scope } from './statement.ts'

/**
 * Takes numbers for a batch's events. It locks the head of the shard's outbox until the commit, so that the order of
 * numbers is the order of commits. So it runs last, and only in transactions that emit events.
 */
export const advanceOutbox = ledgerStatement<OutboxEvent>(
  'advance-outbox',
  {},
  ({ shard, bind }) => `update shard_head set last_event = last_event + ${bind(COUNT)}::bigint where shard = ${shard}`,
)

type NumberedEvent = OutboxEvent & {
  /** Its number less that of the batch's last event: 0 or negative. */
  relative_number: number
  /** Its place among the batch's events of its user, from 1. */
  nth: number
}

export const addNumberedEvents = ledgerStatement<NumberedEvent>(
  'add-events',
  {
    relative_number: bigints(event => event.relative_number),
    user_id: bigints(event => event.user_id),
    nth: bigints(event => event.nth),
    type: texts(event => event.type),
    data: jsons(event => event.data),
  },
  ({ shard, k, bind }) => `insert into event (shard, number, user_id, sequence, type, at, data)
    select ${shard}::smallint, h.last_event + k.relative_number, k.user_id,
      k.nth + coalesce((select max(e.sequence) from event e where e.shard = ${shard} and e.user_id = k.user_id), 0),
      k.type, ${bind(NOW)}::timestamptz, k.data::jsonb
    from shard_head h, ${k}
    where h.shard = ${shard}`,
)

/**
 * Adds events under the last numbers of the shard, which the statement before took: a statement of its own, so that it
 * sees what that one waited for.
 */
export function addEvents(scope: Scope, events: readonly OutboxEvent[]): LedgerCall {
  const counts = new Map<number, number>()
  const rows = events.map((event, index) => {
    const nth = 1 + (counts.get(event.user_id) ?? 0)
    counts.set(event.user_id, nth)
    return { ...event, nth, relative_number: index + 1 - events.length }
  })
  return addNumberedEvents.call(scope, rows)
}

/** The last calls of a transaction that emits events, in order; none if there are no events. */
export function emitEvents(scope: Scope, events: readonly OutboxEvent[]): LedgerCall[] {
  return events.length === 0 ? [] : [advanceOutbox.call(scope, events), addEvents(scope, events)]
}
