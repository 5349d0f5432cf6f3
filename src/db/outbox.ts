import { type EventKey, eventIdOf } from '../domain/event.ts'
import { SHARD_COUNT, shardOf } from '../domain/shard.ts'
import { type EpochMs, formatTimestamp } from '../domain/time.ts'
import { type Queryable, type Transaction, timestampParam } from './database.ts'

/** An event as it left its transaction. What happens to no user's data (a webhook's end) has no user. */
export interface StoredEvent extends EventKey {
  type: string
  at: EpochMs
  user_id: number | null
  sequence: number | null
  data: Record<string, unknown>
}

export interface EventFilter {
  /** All, if left out. */
  types?: readonly string[]
  userId?: number
}

/** One number a shard, by shard: up to where a reader has read, or where the outbox ends. */
export type Positions = readonly number[]

export interface EventSlice {
  events: StoredEvent[]
  /** Where to go on. Everything before it was looked at. */
  reached: Positions
}

/**
 * How many events of a shard are looked at in one read, so that a filter which selects almost nothing cannot make one
 * read long. Numbers have no gaps, so this is a difference.
 */
const LOOKED_AT = 1_000

/** The last number of each shard. Whatever a number here covers is committed and can be read from now on. */
export async function readOutboxEnds(db: Queryable): Promise<number[]> {
  const rows = await db.query<{ shard: number; last_event: number }>({
    name: 'outbox-ends',
    text: 'select shard, last_event from shard_head',
  })
  const ends = new Array<number>(SHARD_COUNT).fill(0)
  for (const { shard, last_event } of rows) ends[shard] = last_event
  return ends
}

/**
 * Where to begin so that the last events, so many, are read first. Within a shard it is the order of numbers that counts:
 * where that of time differs, for clocks of processes do, some more are read.
 */
export async function readStart(db: Queryable, ends: Positions, last: number): Promise<Positions> {
  const rows = await db.query<{ shard: number; position: number }>({
    name: 'outbox-start',
    text: `select shard, min(number) - 1 as position
           from (
             select e.shard, e.number
             from unnest($1::smallint[], $2::bigint[]) as u (shard, head)
             cross join lateral (
               select * from event e where e.shard = u.shard and e.number <= u.head order by e.number desc limit $3
             ) e
             order by e.at desc, e.shard, e.number desc limit $3
           ) newest
           group by shard`,
    values: [[...ends.keys()], [...ends], last],
  })
  const start = [...ends]
  for (const { shard, position } of rows) start[shard] = position
  return start
}

/**
 * Reads on from a position, up to ends that were read before: the older first, as far as the order within each shard
 * allows. It may answer fewer than `limit`, even none, though there is more: then `reached` is not at the ends yet.
 */
export async function readEvents(
  db: Queryable,
  after: Positions,
  ends: Positions,
  { types, userId }: EventFilter,
  limit: number,
): Promise<EventSlice> {
  const reached = [...after]
  const spans = ends.flatMap((head, shard) => {
    const from = after[shard] ?? 0
    if (head <= from) return []
    if (userId !== undefined && shard !== shardOf(userId)) {
      reached[shard] = head
      return []
    }
    return [{ shard, from, until: Math.min(head, from + LOOKED_AT) }]
  })
  if (spans.length === 0) return { events: [], reached }

  const rows = await db.query<StoredEvent>({
    name: 'outbox-read',
    text: `select e.shard, e.number, e.type, e.at, e.user_id, e.sequence, e.data
           from unnest($1::smallint[], $2::bigint[], $3::bigint[]) as u (shard, after, until)
           cross join lateral (
             select * from event e
             where e.shard = u.shard and e.number > u.after and e.number <= u.until
               and ($4::text[] is null or e.type = any($4::text[])) and ($5::bigint is null or e.user_id = $5::bigint)
             order by e.number limit $6
           ) e
           order by e.shard, e.number`,
    values: [
      spans.map(({ shard }) => shard),
      spans.map(({ from }) => from),
      spans.map(({ until }) => until),
      types === undefined ? null : [...types],
      userId ?? null,
      limit,
    ],
  })
  const events = oldestFirst(rows).slice(0, limit)
  const read = countByShard(rows)
  const taken = countByShard(events)
  for (const { shard, until } of spans) {
    const count = taken.get(shard) ?? 0
    const isAllTaken = count === (read.get(shard) ?? 0)
    if (isAllTaken && count < limit) reached[shard] = until
    else reached[shard] = events.findLast(event => event.shard === shard)?.number ?? reached[shard] ?? 0
  }
  return { events, reached }
}

export interface EventCounts {
  counts: { type: string; count: number }[]
  /** Where to go on; not at the ends yet if there is more. */
  reached: Positions
}

/** Counts events by their types, from a position on and up to ends that were read before. */
export async function countEvents(db: Queryable, after: Positions, ends: Positions): Promise<EventCounts> {
  const reached = ends.map((head, shard) => Math.min(head, (after[shard] ?? 0) + LOOKED_AT))
  const moved = [...reached.keys()].filter(shard => (reached[shard] ?? 0) > (after[shard] ?? 0))
  if (moved.length === 0) return { counts: [], reached }
  const counts = await db.query<EventCounts['counts'][number]>({
    name: 'outbox-count',
    text: `select e.type, count(*) as count
           from unnest($1::smallint[], $2::bigint[], $3::bigint[]) as u (shard, after, until)
           join event e on e.shard = u.shard and e.number > u.after and e.number <= u.until
           group by e.type`,
    values: [moved, moved.map(shard => after[shard] ?? 0), moved.map(shard => reached[shard] ?? 0)],
  })
  return { counts, reached }
}

/** The events at these places, in no order; those that are not kept any more are missing. */
export function findEvents(db: Queryable, keys: readonly EventKey[]): Promise<StoredEvent[]> {
  return db.query<StoredEvent>({
    name: 'outbox-find',
    text: `select e.shard, e.number, e.type, e.at, e.user_id, e.sequence, e.data
           from unnest($1::smallint[], $2::bigint[]) as u (shard, number)
           join event e on e.shard = u.shard and e.number = u.number`,
    values: [keys.map(({ shard }) => shard), keys.map(({ number }) => number)],
  })
}

/** Writes an event that is no user's, as the last statements of its transaction (see `recordChange`). */
export async function recordEvent(
  tx: Transaction,
  shard: number,
  type: string,
  at: EpochMs,
  data: object,
): Promise<void> {
  await tx.query({ text: 'update shard_head set last_event = last_event + 1 where shard = $1', values: [shard] })
  await tx.query({
    text: `insert into event (shard, number, type, at, data)
           select $1, h.last_event, $2, $3, $4 from shard_head h where h.shard = $1`,
    values: [shard, type, timestampParam(at), JSON.stringify(data)],
  })
}

/** An event as readers of the feed see it. */
export function eventView(event: StoredEvent) {
  const { type, at, user_id, sequence, data } = event
  return { id: eventIdOf(event), type, at: formatTimestamp(at), user_id, sequence, data }
}

/** Clocks of several processes differ a little: within a shard an event counts as no older than those before it. */
function oldestFirst(rows: readonly StoredEvent[]): StoredEvent[] {
  const latest = new Map<number, EpochMs>()
  const dated = rows.map(event => {
    const at = Math.max(event.at, latest.get(event.shard) ?? event.at)
    latest.set(event.shard, at)
    return { event, at }
  })
  // Sorting is stable: what is equally old stays in the order of shard and number.
  return dated.sort((one, other) => one.at - other.at).map(({ event }) => event)
}

function countByShard(events: readonly StoredEvent[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { shard } of events) counts.set(shard, (counts.get(shard) ?? 0) + 1)
  return counts
}
