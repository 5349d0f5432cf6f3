/**
 * Streams of quotas: the rows of an index in its order, up to a number. Lists over all users read nothing else, so that no
 * list reads the whole table. Which index a stream walks does not depend on statistics: its conditions and its order
 * fit that index only, or fit the smallest of several.
 */
import { EXHAUSTED } from '../../domain/quotas/alerts.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { allOf } from '../lists/pages.ts'
import { type FilterPart, NOT_DELETED, presenceOf, type QuotaFilter } from './conditions.ts'

/** The orders that an index holds. */
export type IndexedOrder = 'id' | 'expires_at' | 'created_at' | 'name' | 'external_ref'

/**
 * The orders that an index holds of the deleted quotas of all users. They accumulate and are seldom listed, so they have
 * fewer indexes than the others.
 */
export const ORDERS_OF_DELETED: readonly IndexedOrder[] = ['id', 'expires_at']

/** The value by which a list is sorted, of a page's last row (null is highest; in the order of ids it is the id), and its id. */
export interface PageKey {
  value: number | string | null
  id: number
}

/** The last character there is stands for "none", and sorts last. */
const NO_TEXT = '\u{10FFFF}'

const textKey = (column: Sql) => sql`coalesce(${column}, chr(1114111)) collate "C"`

/** The expressions of the indexes, with nulls highest. */
export const SORT_KEYS: Readonly<Record<IndexedOrder, Sql>> = {
  id: sql`id`,
  expires_at: sql`coalesce(expires_at, 'infinity'::timestamptz)`,
  created_at: sql`created_at`,
  name: textKey(sql`lower(name)`),
  external_ref: textKey(sql`external_ref`),
}

/** The order of rows with a `sort_key`. */
export function orderBy(by: IndexedOrder, descending: boolean): Sql {
  const direction = descending ? sql`desc` : sql`asc`
  return by === 'id' ? sql`sort_key ${direction}` : sql`sort_key ${direction}, id ${direction}`
}

/** A row's sort key as a page's key. */
export function pageKeyOf({ sort_key, id }: { sort_key: number | string; id: number }): PageKey {
  return { value: sort_key === Number.POSITIVE_INFINITY || sort_key === NO_TEXT ? null : sort_key, id }
}

/** SQL: that a row with this sort key comes after the page's key. */
export function afterKey(
  by: IndexedOrder,
  descending: boolean,
  { value, id }: PageKey,
  values: SqlValue[],
  sortKey: Sql,
): Sql {
  const comparison = descending ? sql`<` : sql`>`
  const key = bind(values, id)
  if (by === 'id') return sql`${sortKey} ${comparison} ${key}`
  return sql`(${sortKey}, id) ${comparison} (${sortValue(by, value, values)}, ${key})`
}

function sortValue(by: Exclude<IndexedOrder, 'id'>, value: PageKey['value'], values: SqlValue[]): Sql {
  if (by === 'name' || by === 'external_ref') return sql`${bind(values, value ?? NO_TEXT)}::text`
  return sql`${bind(values, value === null ? 'infinity' : timestampParam(Number(value)))}::timestamptz`
}

export interface Stream {
  /**
   * SQL of the first rows, in the stream's order: `columns`, which is SQL of a row of `quota` and all of its columns unless
   * given, and `sort_key`. Some rows may be null but for that: not of a quota. On a cluster, all columns of many rows are much
   * to send.
   */
  rows(values: SqlValue[], limit: number, columns?: Sql): Sql
  /** The parts of the filter that all its rows fulfill. */
  readonly fulfills: readonly FilterPart[]
}

/** The beginning of a stream, and its direction. */
export interface Walk {
  by: IndexedOrder
  descending: boolean
  after?: PageKey
}

/** The stream of a list in one of the indexed orders, over the smallest index that has this order. */
export function streamOf(filter: QuotaFilter, walk: Walk, now: EpochMs): Stream {
  if (walk.by !== 'id') return rangeStream(filter, walk, now)
  if (filter.status === 'exhausted') return exhaustedStream(walk, now)
  if (filter.status === 'suspended') return indexStream(sql`${presenceOf(filter)} and not enabled`, walk, [])
  if (filter.plan_id !== undefined && filter.status !== 'deleted') return planStream(filter.plan_id, walk)
  if (filter.kind === 'cap' && filter.status !== 'deleted') {
    return indexStream(sql`${presenceOf(filter)} and kind = 'cap'`, walk, ['kind'])
  }
  return indexStream(presenceOf(filter), walk, [])
}

/** Whether an index holds this order of what the filter selects of all users. */
export function hasIndex({ status }: QuotaFilter, by: IndexedOrder): boolean {
  return status !== 'deleted' || ORDERS_OF_DELETED.includes(by)
}

/** A stream of what a filter selects, and its order. */
export interface NarrowStream {
  by: IndexedOrder | 'starts_at'
  stream: Stream
}

/** Streams that hold less than all quotas, each by one part of the filter: the most selective first, as far as one can know. */
export function narrowStreamsOf(filter: QuotaFilter, now: EpochMs): NarrowStream[] {
  const { status, kind, name, external_ref, plan_id, expires_after, expires_before } = filter
  const streams: NarrowStream[] = []
  const addRange = (by: IndexedOrder) =>
    hasIndex(filter, by) && streams.push({ by, stream: rangeStream(filter, { by, descending: false }, now) })
  const addById = (only: QuotaFilter) =>
    streams.push({ by: 'id', stream: streamOf(only, { by: 'id', descending: false }, now) })
  if (external_ref !== undefined) addRange('external_ref')
  if (name !== undefined) addRange('name')
  if (status === 'exhausted' || status === 'suspended') addById({ status })
  if (status === 'scheduled') streams.push({ by: 'starts_at', stream: scheduledStream(now) })
  if (status === 'expired' || expires_after !== undefined || expires_before !== undefined) addRange('expires_at')
  if (plan_id !== undefined && status !== 'deleted') addById({ plan_id })
  if (kind === 'cap' && status !== 'deleted') addById({ kind })
  return streams
}

/** The undeleted quotas of a plan. */
function planStream(planId: number, walk: Walk): Stream {
  const isOfPlan = sql`plan is not null and (plan ->> 'id')::bigint = ${sqlInteger(planId)}`
  return indexStream(sql`${presenceOf({})} and ${isOfPlan}`, walk, ['plan_id'])
}

function indexStream(selected: Sql, { by, descending, after }: Walk, fulfills: readonly FilterPart[]): Stream {
  return {
    fulfills,
    rows(values, limit, columns) {
      const key = SORT_KEYS[by]
      const bound = after === undefined ? sql`` : sql` and ${afterKey(by, descending, after, values, key)}`
      return rowsOf(sql`${selected}${bound}`, key, orderBy(by, descending), bind(values, limit), columns)
    },
  }
}

/** The rows of an index whose key lies in the range that the filter gives. */
function rangeStream(filter: QuotaFilter, walk: Walk, now: EpochMs): Stream {
  const { by, descending, after } = walk
  const key = SORT_KEYS[by]
  const fulfilled: Partial<Record<IndexedOrder, FilterPart[]>> = {
    expires_at: ['expires_after', 'expires_before', ...(filter.status === 'expired' ? (['status'] as const) : [])],
    external_ref: ['external_ref'],
    name: ['name'],
  }
  return {
    fulfills: fulfilled[by] ?? [],
    rows(values, limit, columns) {
      const { from, to } = rangeOf(by, filter, now)
      const conditions = [presenceOf(filter)]
      // A cursor lies in the range. Of two bounds on one side PostgreSQL may begin at the farther one.
      if (after !== undefined) conditions.push(afterKey(by, descending, after, values, key))
      if (from !== undefined && (after === undefined || descending)) conditions.push(sql`${key} >= ${from(values)}`)
      if (to !== undefined && (after === undefined || !descending)) conditions.push(sql`${key} < ${to(values)}`)
      return rowsOf(allOf(conditions), key, orderBy(by, descending), bind(values, limit), columns)
    },
  }
}

/**
 * SQL of the undeleted quotas whose name or reference begins with a text, in that order. `text` is SQL. Case matters not in
 * names, as far as `lower` of the database knows. Of quotas without one it may return some, if the text begins with the last
 * character there is.
 */
export function beginningWith(by: 'name' | 'external_ref', text: Sql, limit: Sql): Sql {
  const key = SORT_KEYS[by]
  const from = by === 'name' ? sql`lower(${text})` : text
  return rowsOf(
    sql`${presenceOf({})} and ${key} >= ${from} and ${key} < ${from} || chr(1114111)`,
    key,
    orderBy(by, false),
    limit,
  )
}

function rowsOf(selected: Sql, key: Sql, order: Sql, limit: Sql, columns = sql`*`): Sql {
  return sql`select ${columns}, ${key} as sort_key from quota where ${selected} order by ${order} limit ${limit}`
}

/** A bound of a range, as SQL that binds its values. */
type Bound = (values: SqlValue[]) => Sql

/** The sort keys that a filter selects: `from` is included, `to` is not. Undefined is no bound. */
interface KeyRange {
  from?: Bound
  to?: Bound
}

function rangeOf(by: IndexedOrder, filter: QuotaFilter, now: EpochMs): KeyRange {
  const { name, external_ref } = filter
  if (by === 'name' && name !== undefined) {
    const from: Bound = values => sql`lower(${bind(values, name)}::text)`
    return { from, to: values => sql`${from(values)} || chr(1114111)` }
  }
  if (by === 'external_ref' && external_ref !== undefined) {
    const from: Bound = values => sql`${bind(values, external_ref)}::text`
    // No other text lies between a text and the same with the lowest character behind it.
    return { from, to: values => sql`${from(values)} || chr(1)` }
  }
  return by === 'expires_at' ? expiryRangeOf(filter, now) : {}
}

/** Times are whole milliseconds, so "after now" is "from the next millisecond". */
function expiryRangeOf({ status, expires_after, expires_before }: QuotaFilter, now: EpochMs): KeyRange {
  const isUnexpired = status !== undefined && status !== 'expired' && status !== 'deleted'
  const starts = [expires_after, ...(isUnexpired ? [now + 1] : [])].filter(at => at !== undefined)
  const ends = [expires_before, ...(status === 'expired' ? [now + 1] : [])].filter(at => at !== undefined)
  // The range of those that expire at all ends before 'infinity'.
  if (expires_after !== undefined) ends.push(Number.POSITIVE_INFINITY)
  const at =
    (time: EpochMs): Bound =>
    values =>
      sql`${bind(values, timestampParam(time))}::timestamptz`
  return {
    ...(starts.length === 0 ? {} : { from: at(Math.max(...starts)) }),
    ...(ends.length === 0 ? {} : { to: at(Math.min(...ends)) }),
  }
}

function scheduledStream(now: EpochMs): Stream {
  return {
    fulfills: [],
    rows(values, limit, columns) {
      const start = sql`${bind(values, timestampParam(now))}::timestamptz`
      return rowsOf(
        sql`deleted_at is null and starts_at > ${start}`,
        sql`starts_at`,
        sql`sort_key`,
        bind(values, limit),
        columns,
      )
    },
  }
}

/**
 * The quotas that have been exhausted in their current window, by id. A row whose window has ended is null: it counts
 * among those read, and is not looked up.
 */
function exhaustedStream({ descending, after }: Walk, now: EpochMs): Stream {
  return {
    fulfills: [],
    rows(values, limit, columns = sql`q.*`) {
      const bound = after === undefined ? sql`` : sql` and ${afterKey('id', descending, after, values, sql`quota_id`)}`
      const direction = descending ? sql`desc` : sql`asc`
      // The limit applies to the join: a cluster joins rows behind a limit by reading all quotas.
      return sql`select ${columns}, a.quota_id as sort_key
        from quota_alert a left join quota q on q.shard = a.shard and q.id = a.quota_id and ${NOT_DELETED}
          and a.ends_at > ${bind(values, timestampParam(now))}::timestamptz
        where percent = ${sqlInteger(EXHAUSTED)}${bound} order by a.quota_id ${direction} limit ${bind(values, limit)}`
    },
  }
}
