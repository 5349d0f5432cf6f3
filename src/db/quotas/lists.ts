/** Pages of quotas. No list over all users reads more than a bounded number of rows. */

import { shardOf } from '../../domain/basics/shard.ts'
import { usedShareOf } from '../../domain/quotas/alerts.ts'
import { type Quota, remainingOf, roll } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database, Queryable, SqlValue, Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { LISTS } from '../connection/transaction-settings.ts'
import { cut, type Slice, scanPage } from '../lists/pages.ts'
import { conditionalPartsOf, presenceOf, type QuotaFilter, TOTALS, whereClauseOf } from './conditions.ts'
import { QUOTA_COLUMNS } from './quotas.ts'
import {
  afterKey,
  hasIndex,
  type IndexedOrder,
  narrowStreamsOf,
  orderBy,
  type PageKey,
  pageKeyOf,
  SORT_KEYS,
  type Stream,
  streamOf,
} from './streams.ts'

/** Orders by what depends on the windows that closed since a row was written: no index has them. For one user only. */
type ComputedOrder = 'remaining' | 'used_percent'

export interface QuotaOrder {
  by: IndexedOrder | ComputedOrder
  descending: boolean
}

/** The beginning of a page: after a number of rows, or after the row with this key. */
export type PageStart = { skip: number } | { after: PageKey }

export interface QuotaSlice extends Slice<Quota, PageKey> {
  /**
   * The number of quotas that the filter selects: exactly, or if that would read too many rows, at least this many.
   * Absent if the page began after a key.
   */
  total?: Total
}

export type Total = { exactly: number } | { atLeast: number }

/** Rows that a page of all users skips, at most, counted from the nearer end of the list. */
export const MAX_SKIPPED = 100_000

/** Rows that one part of a list over all users reads, at most. */
export interface Bounds {
  /**
   * For a page, beside those that it skips, while it looks for what the filter selects; and for a total in any order but
   * that of ids.
   */
  scanned: number
  /** For a total, in the order of ids, which is nearly that of the table. */
  counted: number
  /** To sort them, because no index has both what is selected and the order. */
  sorted: number
}
export const BOUNDS: Bounds = { scanned: 10_000, counted: 50_000, sorted: 5_000 }

interface ListQuery {
  filter: QuotaFilter
  order: QuotaOrder
  start: PageStart
  size: number
  now: EpochMs
  bounds: Bounds
}
type IndexedQuery = ListQuery & { order: { by: IndexedOrder } }

/**
 * A page of quotas as of `now`, with its total from the same snapshot. `too_deep`: a page of all users begins behind more
 * rows than a page may skip; a cursor reaches it.
 */
export function listQuotas(
  db: Database,
  filter: QuotaFilter,
  order: QuotaOrder,
  start: PageStart,
  size: number,
  now: EpochMs,
  bounds = BOUNDS,
): Promise<QuotaSlice | 'too_deep'> {
  return db.transaction(async tx => {
    await tx.query({ text: LISTS })
    const query = { filter, order, start, size, now, bounds }
    if (!isIndexed(query)) return listByUse(tx, query, order.by === 'remaining' ? remainingOf : usedShareOf)
    return filter.user_id === undefined ? listOfAll(tx, query) : listOfUser(tx, query, filter.user_id)
  }, 'snapshot')
}

function isIndexed(query: ListQuery): query is IndexedQuery {
  return query.order.by in SORT_KEYS
}

/* ── One user ───────────────────────────────────────────────────────────────────────────────────────────────────── */

function rowsOfUser(filter: QuotaFilter, userId: number, values: SqlValue[]): Sql {
  const [shard, user] = [bind(values, shardOf(userId)), bind(values, userId)]
  return sql`select * from quota where ${presenceOf(filter)} and shard = ${shard} and user_id = ${user}`
}

async function listOfUser(tx: Transaction, query: IndexedQuery, userId: number): Promise<QuotaSlice> {
  const { slice } = await sortedPage(tx, query, values => rowsOfUser(query.filter, userId, values))
  return slice
}

async function listByUse(
  tx: Transaction,
  { filter, order, start, size, now }: ListQuery,
  sortValue: (quota: Quota) => number | null,
): Promise<QuotaSlice> {
  if (filter.user_id === undefined) throw new RangeError(`the order by ${order.by} needs a user`)
  const values: SqlValue[] = []
  const quotas = await tx.query<Quota>({
    text: sql`select ${QUOTA_COLUMNS} from (${rowsOfUser(filter, filter.user_id, values)}) s
           where ${whereClauseOf(filter, now, values)}`,
    values,
  })
  const sign = order.descending ? -1 : 1
  const ranked = quotas
    .map(quota => ({ quota, key: { value: sortValue(roll(quota, now).quota), id: quota.id } }))
    .sort((one, other) => sign * compareKeys(one.key, other.key))
  const rest =
    'after' in start
      ? ranked.filter(({ key }) => sign * compareKeys(key, start.after) > 0)
      : ranked.slice(Math.min(start.skip, ranked.length))
  const { items, next } = cut(rest, size, ({ key }) => key)
  return {
    items: items.map(({ quota }) => quota),
    ...('skip' in start ? { total: { exactly: ranked.length } } : {}),
    next,
  }
}

function compareKeys(one: PageKey, other: PageKey): number {
  const [first, second] = [one, other].map(({ value }) => (value === null ? Number.POSITIVE_INFINITY : Number(value)))
  if (first === undefined || second === undefined || first === second) return one.id - other.id
  return first - second
}

/* ── All users ──────────────────────────────────────────────────────────────────────────────────────────────────── */

/**
 * If what the filter selects is few, all of it is read by an index of its own and sorted. Otherwise the page walks the
 * index that has the order, and passes over what the filter does not select: the more that is, the less it passes over.
 */
async function listOfAll(tx: Transaction, query: IndexedQuery): Promise<QuotaSlice | 'too_deep'> {
  const { filter, order, now, bounds } = query
  if (!hasIndex(filter, order.by)) throw new RangeError(`the order of deleted quotas by ${order.by} needs a user`)
  const narrow = narrowStreamsOf(filter, now)
  for (const { stream } of narrow.filter(({ by }) => by !== order.by)) {
    const { slice, read } = await sortedPage(tx, query, values => stream.rows(values, bounds.sorted + 1))
    if (read <= bounds.sorted) return slice
  }
  return 'after' in query.start
    ? walk(tx, query, query.start.after)
    : numberedPage(tx, query, query.start.skip, await totalOf(tx, query, narrow[0]?.stream))
}

/** The page of a number. The rows before it are counted from the end of the list that is nearer. */
async function numberedPage(
  tx: Transaction,
  query: IndexedQuery,
  skip: number,
  total: Total,
): Promise<QuotaSlice | 'too_deep'> {
  if ('exactly' in total) {
    if (skip >= total.exactly) return { items: [], total, next: null }
    const behind = Math.max(0, total.exactly - skip - query.size)
    if (behind < skip) return pageFromEnd(tx, query, behind, total)
  }
  if (skip > MAX_SKIPPED) return 'too_deep'
  const slice = await walk(tx, query, undefined, skip)
  // The scan ended before the page began.
  if (slice.items.length === 0 && skip > 0 && slice.next !== null) return 'too_deep'
  return { ...slice, total }
}

async function pageFromEnd(
  tx: Transaction,
  query: IndexedQuery,
  behind: number,
  total: { exactly: number },
): Promise<QuotaSlice | 'too_deep'> {
  if (behind > MAX_SKIPPED) return 'too_deep'
  const skip = 'skip' in query.start ? query.start.skip : 0
  const size = Math.min(query.size, total.exactly - skip)
  const reversed = { ...query, size, order: { ...query.order, descending: !query.order.descending } }
  const rows = await tx.query<Row>(walkedRows(reversed, undefined, behind, size))
  if (rows.length < size) return 'too_deep'
  const last = rows[0]
  return {
    items: rows.toReversed().map(quotaOf),
    total,
    next: behind === 0 || last === undefined ? null : pageKeyOf(last),
  }
}

type Row = Quota & { sort_key: number | string }
const quotaOf = ({ sort_key: _, ...quota }: Row): Quota => quota

const withoutKeys = ({ items, next }: Slice<Row, PageKey>): QuotaSlice => ({ items: items.map(quotaOf), next })

/** A page in the order of an index, after a key or a number of rows. */
async function walk(tx: Transaction, query: IndexedQuery, after: PageKey | undefined, skip = 0): Promise<QuotaSlice> {
  const { by, descending } = query.order
  const stream = walkedStream(query, after)
  const bound = scanBound(query, stream, skip)
  const values: SqlValue[] = []
  const rows = stream.rows(values, bound + 1, sql`id`)
  const end = sql`select sort_key, ${by === 'id' ? sql`sort_key as id` : sql`id`} from (${rows}) s
           order by ${orderBy(by, descending)} offset ${bind(values, bound - 1)}`
  const page = walkedRows(query, after, skip, query.size + 1)
  return withoutKeys(
    await scanPage<Row, PageKey>(tx, query.size, { page, keyOf: pageKeyOf, end: { text: end, values } }),
  )
}

/** Selects rows in the order of an index. */
function walkedRows(query: IndexedQuery, after: PageKey | undefined, skip: number, limit: number) {
  const { filter, order, now } = query
  const stream = walkedStream(query, after)
  const values: SqlValue[] = []
  const rows = stream.rows(values, scanBound(query, stream, skip))
  const text = sql`select ${QUOTA_COLUMNS}, sort_key from (${rows}) s where ${whereClauseOf(filter, now, values)}
           order by ${orderBy(order.by, order.descending)}
           limit ${bind(values, limit)} offset ${bind(values, skip)}`
  return { text, values }
}

function walkedStream({ filter, order, now }: IndexedQuery, after: PageKey | undefined): Stream {
  return streamOf(filter, { ...order, ...(after === undefined ? {} : { after }) }, now)
}

/** The rows that a page reads, at most. A stream that holds nothing but what the filter selects needs no more than it shows. */
function scanBound({ filter, size, bounds }: IndexedQuery, stream: Stream, skip: number): number {
  return skip + size + 1 + (holdsOnly(stream, filter) ? 0 : bounds.scanned)
}

function holdsOnly({ fulfills }: Stream, filter: QuotaFilter): boolean {
  return conditionalPartsOf(filter).every(part => fulfills.includes(part))
}

/** The total of a filter: from the numbers in `shard_head`, or counted up to a bound. */
async function totalOf(tx: Queryable, query: IndexedQuery, narrow: Stream | undefined): Promise<Total> {
  const { filter, now, bounds } = query
  const { user_id: _, kind, status, ...others } = filter
  if (Object.keys(others).length === 0 && (status === undefined || status === 'deleted')) {
    const counted = TOTALS[status === 'deleted' ? 'deleted' : 'undeleted']
    const columns = kind === undefined ? [counted.grant, counted.cap] : [counted[kind]]
    const [row] = await tx.query<{ total: number }>({
      text: sql`select sum(${joinSql(columns, sql` + `)})::bigint as total from shard_head`,
    })
    return { exactly: row?.total ?? 0 }
  }
  const stream = narrow ?? streamOf(filter, { by: 'id', descending: false }, now)
  const bound = narrow === undefined ? bounds.counted : bounds.scanned
  const values: SqlValue[] = []
  const rows = stream.rows(values, bound + 1, sql`${whereClauseOf(filter, now, values)} as is_selected`)
  const [row] = await tx.query<{ read: number; selected: number }>({
    text: sql`select count(*) as read, count(*) filter (where is_selected) as selected from (${rows}) s`,
    values,
  })
  const { read, selected } = row ?? { read: 0, selected: 0 }
  return read <= bound ? { exactly: selected } : { atLeast: selected }
}

/* ── Reading all, and sorting ───────────────────────────────────────────────────────────────────────────────────── */

/**
 * The page of what a filter selects among these rows, all of which are read, and how many they are. `rows` is SQL that
 * returns columns of `quota`, and may return rows of nulls.
 */
async function sortedPage(
  tx: Queryable,
  { filter, order, start, size, now }: IndexedQuery,
  rows: (values: SqlValue[]) => Sql,
): Promise<{ slice: QuotaSlice; read: number }> {
  const { by, descending } = order
  const values: SqlValue[] = []
  const from = rows(values)
  const selected = whereClauseOf(filter, now, values)
  const after = 'after' in start ? sql` and ${afterKey(by, descending, start.after, values, sql`sort_key`)}` : sql``
  const found = await tx.query<Row & { read: number; total: number }>({
    text: sql`with candidate as materialized (
             select shard, id, ${SORT_KEYS[by]} as sort_key, id is not null and ${selected} as is_selected
             from (${from}) s
           )
           select t.read, t.total, p.*
           from (select count(*) as read, count(*) filter (where is_selected) as total from candidate) t
           left join (
             select ${QUOTA_COLUMNS}, sort_key
             from (select shard, id, sort_key from candidate where is_selected${after} order by ${orderBy(by, descending)}
                   limit ${bind(values, size + 1)} offset ${bind(values, 'skip' in start ? start.skip : 0)}) c
             join quota using (shard, id)
           ) p on true
           order by ${orderBy(by, descending)}`,
    values,
  })
  const { read, total } = found[0] ?? { read: 0, total: 0 }
  const selectedRows = found.filter(({ id }) => id !== null).map(({ read: _, total: __, ...row }) => row)
  const slice = withoutKeys(cut(selectedRows, size, pageKeyOf))
  return { slice: 'after' in start ? slice : { ...slice, total: { exactly: total } }, read }
}
