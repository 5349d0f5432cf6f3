/** Reads events. `outbox-writes.ts` writes them. */

import { SHARD_COUNT, type Shard } from '../../domain/basics/shard.ts'
import type { EventKey } from '../../domain/events/event.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Queryable, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'

/** An event as its transaction wrote it. One that concerns no user (`webhook.disabled`) has no user and no sequence. */
export interface StoredEvent extends EventKey {
  type: string
  at: EpochMs
  user_id: number | null
  sequence: number | null
  data: Record<string, unknown>
}

/** SQL: that an event `e` is not one of a user whose data was erased. Such events keep their number, type and time only. */
export const IS_KEPT = sql`(e.user_id is not null or not e.data ? 'erased')`

export interface EventFilter {
  /** By default all. */
  types?: readonly string[]
  userId?: number
}

/** An event number for each shard, by shard: up to where a reader has read, or where the outbox ends. */
export type Positions = readonly number[]

/** Whether a reader at these positions has events to read, given the ends of the outbox. */
export function isBehind(positions: Positions, ends: Positions): boolean {
  return ends.some((end, shard) => end > (positions[shard] ?? 0))
}

/** The number of events between these positions and the ends of the outbox. */
export function countBehind(positions: Positions, ends: Positions): number {
  return ends.reduce((sum, end, shard) => sum + Math.max(0, end - (positions[shard] ?? 0)), 0)
}

/**
 * Events of a shard that one read scans, at most, so that a filter which selects almost nothing cannot make a read
 * long. Numbers have no gaps, so this is a difference of numbers.
 */
export const MAX_SCANNED = 1_000

/** The last number of each shard. All events up to it are committed and readable. */
export async function readOutboxEnds(db: Queryable): Promise<number[]> {
  const rows = await db.query<{ shard: Shard; last_event: number }>({
    name: 'outbox-ends',
    text: sql`select shard, last_event from shard_head`,
  })
  const ends = new Array<number>(SHARD_COUNT).fill(0)
  for (const { shard, last_event } of rows) ends[shard] = last_event
  return ends
}

/** Whether the server is a standby, which may show an earlier state than its primary. */
export async function isStandby(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ is_standby: boolean }>({ text: sql`select pg_is_in_recovery() as is_standby` })
  return row?.is_standby ?? false
}

/**
 * From which positions a reader gets the last `count` events before the ends. Within a shard the order of numbers
 * counts. Where the order of time differs, because clocks of processes do, the reader gets a few more.
 */
export async function readPositionsBefore(tx: Transaction, ends: Positions, count: number): Promise<Positions> {
  // A cluster refuses lateral joins with a limit. Numbers have no gaps, so a range of them is the same.
  const events = tx.isCluster
    ? sql`join event e on e.shard = u.shard and e.number <= u.last and e.number > u.last - $3 where e.shard = any($1::smallint[])`
    : sql`cross join lateral (
         select * from event e where e.shard = u.shard and e.number <= u.last order by e.number desc limit $3
       ) e`
  const rows = await tx.query<{ shard: Shard; position: number }>({
    name: tx.isCluster ? 'outbox-positions-before-in-cluster' : 'outbox-positions-before',
    text: sql`select shard, min(number) - 1 as position
           from (
             select e.shard, e.number
             from unnest($1::smallint[], $2::bigint[]) as u (shard, last) ${events}
             order by e.at desc, e.shard, e.number desc limit $3
           ) newest
           group by shard`,
    values: [[...ends.keys()], [...ends], count],
  })
  const start = [...ends]
  for (const { shard, position } of rows) start[shard] = position
  return start
}

/** The number of events of each type. */
export type EventCounts = readonly { type: string; count: number }[]

/** Counts a shard's events by type, behind a number and up to another one. */
export function countEvents(db: Queryable, shard: Shard, after: number, until: number): Promise<EventCounts> {
  // Without a name: a plan made while the outbox is small must not be kept.
  return db.query<EventCounts[number]>({
    text: sql`select type, count(*) as count from event where shard = $1 and number > $2 and number <= $3 group by type`,
    values: [shard, after, until],
  })
}

/** The events with these keys, in no order; events that are not kept any more, or erased, are missing. */
export function findEvents(db: Queryable, keys: readonly EventKey[]): Promise<StoredEvent[]> {
  return db.query<StoredEvent>({
    name: 'outbox-find',
    text: sql`select e.shard, e.number, e.type, e.at, e.user_id, e.sequence, e.data
           from unnest($1::smallint[], $2::bigint[]) as u (shard, number)
           join event e on e.shard = u.shard and e.number = u.number and ${IS_KEPT}
           where e.shard = any($3::smallint[])`,
    values: [keys.map(({ shard }) => shard), keys.map(({ number }) => number), shardsOf(keys)],
  })
}

/** Each once: PostgreSQL sorts them for each event that it looks up. */
export function shardsOf(keys: readonly EventKey[]): number[] {
  return [...new Set(keys.map(({ shard }) => shard))]
}
