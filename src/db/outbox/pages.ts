/** Reads pages of the outbox, oldest first, for the feed. A page costs what it shows, and not a page of every shard. */

import { SHARDS, type Shard, shardOf } from '../../domain/basics/shard.ts'
import type { EventKey } from '../../domain/events/event.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { shardFilter } from '../cluster/parts.ts'
import type { Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { type EventFilter, IS_KEPT, MAX_SCANNED, type Positions, type StoredEvent } from './outbox.ts'

/** A shard's outbox as a reader at some position sees it. */
export interface OutboxHead {
  shard: Shard
  /** The last number. */
  end: number
  /** The last number that retention has removed. */
  pruned: number
  /** The time of the event at the reader's position; null if that event is not there. */
  passed_at: EpochMs | null
}

/** Keys of a shard's events that a filter selects, in the order of numbers. */
interface ShardKeys extends OutboxHead {
  numbers: number[]
  times: EpochMs[]
  /** The last number that was scanned in the shard, unless `isFull`. */
  until: number
  /** Whether there may be more keys behind the last one. */
  isFull: boolean
}

/** The events of a page, and where to go on. */
export interface OutboxPage {
  /** The heads of all shards, by shard, as of the position that the page was read from. */
  heads: OutboxHead[]
  events: StoredEvent[]
  /** Where to go on: everything up to it was scanned. */
  reached: Positions
  /** The time of the event at each position of `reached`; null where that event is not there. */
  reachedAt: (EpochMs | null)[]
}

/**
 * Keys of each shard behind a position; none where the position is null. Unless `$4` says how many of each shard, a share
 * of a page of `$3`: as many as the shard is likely to have in it if the shards with events are alike, and some more.
 * Behind a removed event it goes on with the oldest one that is left. All comes in one row of arrays, of which those of
 * keys are in the order of shard and number, as the lateral join makes them: a row per key, or an array per shard, would
 * cost several times as much.
 */
const READ_KEYS = sql`
  with head as materialized (
    select h.*, least(h.last_event, h.start + ${sqlInteger(MAX_SCANNED)}) as until,
      coalesce($4::bigint, least($3::bigint,
        4 + 2 * $3::bigint / greatest(1, count(*) filter (where h.last_event > h.start) over ()))) as share,
      (select ${epochMs(sql`e.at`)} from event e where e.shard = h.shard and e.number = h.position) as passed_at
    from (
      select h.shard, h.last_event, h.pruned, p.position,
        case when p.position is not null then greatest(p.position, h.pruned) end as start
      from shard_head h cross join lateral (select ($1::bigint[])[h.shard + 1] as position) p
      order by h.shard
    ) h
  ), key as materialized (
    select h.shard, e.number, ${epochMs(sql`e.at`)} as at
    from head h cross join lateral (
      select e.number, e.at from event e
      where e.shard = h.shard and e.number > h.start and e.number <= h.until and h.last_event > h.start
        and ($2::text[] is null or e.type = any($2::text[])) and ($5::bigint is null or e.user_id = $5::bigint)
      order by e.number limit h.share
    ) e
  )
  select * from (
    select array_agg(shard::bigint) as shards, array_agg(last_event) as ends, array_agg(pruned) as pruned,
      array_agg(passed_at) as passed_at, array_agg(until) as until, min(share) as share
    from head
  ) heads, (
    select coalesce(array_agg(shard::bigint), '{}') as key_shards, coalesce(array_agg(number), '{}') as numbers,
      coalesce(array_agg(at), '{}') as times
    from key
  ) keys`

/** Without numeric values, which cost more than the reading. */
function epochMs(column: Sql): Sql {
  return sql`(date_part('epoch', ${column}) * 1000)::bigint`
}

interface KeysRow {
  shards: Shard[]
  ends: number[]
  pruned: number[]
  passed_at: (EpochMs | null)[]
  until: number[]
  share: number
  key_shards: Shard[]
  numbers: number[]
  times: EpochMs[]
}

/** Reads keys of each shard behind its position, by shard. */
function readKeys(
  tx: Transaction,
  positions: readonly (number | null)[],
  filter: EventFilter,
  pageSize: number,
  share: number | null,
): Promise<ShardKeys[]> {
  return tx.isCluster
    ? readKeysOfCluster(tx, positions, filter, pageSize, share)
    : readKeysOfServer(tx, positions, filter, pageSize, share)
}

async function readKeysOfServer(
  tx: Transaction,
  positions: readonly (number | null)[],
  { types, userId }: EventFilter,
  pageSize: number,
  share: number | null,
): Promise<ShardKeys[]> {
  const [row] = await tx.query<KeysRow>({
    name: 'outbox-keys',
    text: READ_KEYS,
    values: [[...positions], types === undefined ? null : [...types], pageSize, share, userId ?? null],
  })
  if (row === undefined) throw new Error('the database returned no row')
  const keys = new Map<Shard, ShardKeys>()
  for (const [index, shard] of row.shards.entries()) {
    const [end = 0, pruned = 0, until = 0] = [row.ends[index], row.pruned[index], row.until[index]]
    const passed_at = row.passed_at[index] ?? null
    keys.set(shard, { shard, end, pruned, passed_at, until, numbers: [], times: [], isFull: false })
  }
  for (const [index, shard] of row.key_shards.entries()) {
    keys.get(shard)?.numbers.push(row.numbers[index] ?? Number.NaN)
    keys.get(shard)?.times.push(row.times[index] ?? Number.NaN)
  }
  for (const one of keys.values()) one.isFull = one.numbers.length >= row.share
  return SHARDS.flatMap(shard => keys.get(shard) ?? [])
}

/**
 * `readKeysOfServer` in two statements. A cluster refuses lateral joins with a limit, and it would read all heads for a
 * share. Numbers have no gaps, so without a filter a range of them bounds what is read.
 */
async function readKeysOfCluster(
  tx: Transaction,
  positions: readonly (number | null)[],
  { types, userId }: EventFilter,
  pageSize: number,
  share: number | null,
): Promise<ShardKeys[]> {
  const heads = await tx.query<OutboxHead>({
    text: sql`select h.shard, h.last_event as "end", h.pruned, e.at as passed_at
           from shard_head h left join event e on e.shard = h.shard and e.number = ($1::bigint[])[h.shard + 1]
           order by h.shard`,
    values: [[...positions]],
  })
  const starts = heads.map(({ shard, pruned }) => {
    const position = positions[shard] ?? null
    return position === null ? null : Math.max(position, pruned)
  })
  const keys = heads.map((head, index): ShardKeys => {
    const start = starts[index] ?? null
    const until = start === null ? head.end : Math.min(head.end, start + MAX_SCANNED)
    return { ...head, until, numbers: [], times: [], isFull: false }
  })
  const open = keys.flatMap(({ shard, until }, index) => {
    const after = starts[index] ?? null
    return after === null || after >= until ? [] : [{ shard, after, until }]
  })
  const count = share ?? Math.min(pageSize, 4 + Math.floor((2 * pageSize) / Math.max(1, open.length)))
  const isFiltered = types !== undefined || userId !== undefined
  const found =
    open.length === 0 || count === 0
      ? []
      : await tx.query<EventKey & { at: EpochMs }>({
          text: KEYS_OF_CLUSTER,
          values: [
            open.map(({ shard }) => shard),
            open.map(({ after }) => after),
            open.map(({ after, until }) => (isFiltered ? until : Math.min(until, after + count))),
            types === undefined ? null : [...types],
            userId ?? null,
            count,
          ],
        })
  const ofShard = new Map(keys.map(one => [one.shard, one]))
  for (const { shard, number, at } of found) {
    ofShard.get(shard)?.numbers.push(number)
    ofShard.get(shard)?.times.push(at)
  }
  for (const one of keys) one.isFull = one.numbers.length >= count
  return keys
}

const KEYS_OF_CLUSTER = sql`
  select shard, number, at from (
    select e.shard, e.number, e.at, row_number() over (partition by e.shard order by e.number) as place
    from unnest($1::smallint[], $2::bigint[], $3::bigint[]) k (shard, after, until)
    join event e on e.shard = k.shard and e.number > k.after and e.number <= k.until
    where e.shard = any($1::smallint[]) and ($4::text[] is null or e.type = any($4::text[]))
      and ($5::bigint is null or e.user_id = $5::bigint)
  ) numbered
  where place <= $6 order by shard, number`

/** The outbox at some positions, without events. To be called in a `keyed snapshot`. */
export function readHeads(tx: Transaction, positions: Positions): Promise<OutboxHead[]> {
  return readKeys(tx, positions, {}, 1, 0)
}

/** The time of the first event behind these positions; null if there is none. To be called in a `keyed snapshot`. */
export async function firstTimeAfter(tx: Transaction, positions: Positions): Promise<EpochMs | null> {
  const shards = await readKeys(tx, positions, {}, 1, 1)
  const times = shards.flatMap(({ times }) => times)
  return times.length === 0 ? null : Math.min(...times)
}

/**
 * Reads on from a position: older events first, as far as the order within each shard allows. It may return fewer than
 * `limit` events, even none, though there are more: then `reached` is before the ends. To be called in a `keyed snapshot`.
 */
export async function readOutboxPage(
  tx: Transaction,
  after: Positions,
  filter: EventFilter,
  limit: number,
): Promise<OutboxPage> {
  const own = filter.userId === undefined ? undefined : shardOf(filter.userId)
  const heads = await readKeys(tx, after, filter, limit, own === undefined ? null : limit)
  const sources = heads.map(keys => ({ ...keys, next: 0, latest: Number.NEGATIVE_INFINITY }))
  const open = sources.filter(({ shard }) => own === undefined || shard === own)
  const keys = takeOldest(open, limit)
  for (let dry = open.filter(isDry); keys.length < limit && dry.length > 0; dry = open.filter(isDry)) {
    const positions = sources.map(source => (dry.includes(source) ? reachedOf(source) : null))
    const read = await readKeys(tx, positions, filter, limit, limit - keys.length)
    for (const source of dry) Object.assign(source, read[source.shard], { next: 0 })
    keys.push(...takeOldest(open, limit - keys.length))
  }
  const reached = sources.map(source => (open.includes(source) ? reachedOf(source) : source.end))
  const known = sources.map((source, shard) =>
    reached[shard] === after[shard] ? heads[shard]?.passed_at : timeOfLastTaken(source, reached[shard]),
  )
  return { heads, events: await readByKeys(tx, keys), reached, reachedAt: await completeTimes(tx, reached, known) }
}

/** The keys of one shard, in order. `next` is the first that is not taken. */
interface Source extends ShardKeys {
  next: number
  /** Clocks of processes differ a little: an event counts as no older than those before it in its shard. */
  latest: EpochMs
}

/** Takes the oldest keys of all shards, until there are enough, or a shard must be read on before the next is known. */
function takeOldest(sources: readonly Source[], limit: number): EventKey[] {
  const keys: EventKey[] = []
  while (keys.length < limit && !sources.some(isDry)) {
    let [oldest, oldestAt] = [undefined as Source | undefined, Number.POSITIVE_INFINITY]
    for (const source of sources) {
      const at = Math.max(source.times[source.next] ?? Number.POSITIVE_INFINITY, source.latest)
      if (at < oldestAt) [oldest, oldestAt] = [source, at]
    }
    const number = oldest?.numbers[oldest.next]
    if (oldest === undefined || number === undefined) break
    keys.push({ shard: oldest.shard, number })
    oldest.latest = oldestAt
    oldest.next += 1
  }
  return keys
}

/** Whether all keys are taken and there may be more. */
function isDry({ numbers, next, isFull }: Source): boolean {
  return isFull && next >= numbers.length
}

/** Everything up to this number was scanned and, if the filter selects it, taken. */
function reachedOf({ numbers, next, until, isFull }: Source): number {
  const following = numbers[next]
  if (following !== undefined) return following - 1
  return isFull ? (numbers.at(-1) ?? until) : until
}

function timeOfLastTaken({ numbers, times, next }: Source, number: number | undefined): EpochMs | undefined {
  return numbers[next - 1] === number ? times[next - 1] : undefined
}

/** The events with these keys, in their order; those of erased users are left out. */
async function readByKeys(tx: Transaction, keys: readonly EventKey[]): Promise<StoredEvent[]> {
  if (keys.length === 0) return []
  return tx.query<StoredEvent>({
    name: 'outbox-events',
    text: sql`select e.shard, e.number, e.type, e.at, e.user_id, e.sequence, e.data
           from unnest($1::smallint[], $2::bigint[]) with ordinality k (shard, number, place)
           join event e on e.shard = k.shard and e.number = k.number and ${IS_KEPT}
           where true ${shardFilter(tx, sql`e.shard`, sql`$1`)} order by k.place`,
    values: [keys.map(({ shard }) => shard), keys.map(({ number }) => number)],
  })
}

/** Reads the times that are not known: only a filter leaves some. Null where there is no event. */
async function completeTimes(
  tx: Transaction,
  positions: Positions,
  known: readonly (EpochMs | null | undefined)[],
): Promise<(EpochMs | null)[]> {
  if (known.every(at => at !== undefined)) return [...known]
  const heads = await readHeads(tx, positions)
  return known.map((at, shard) => (at === undefined ? (heads[shard]?.passed_at ?? null) : at))
}
