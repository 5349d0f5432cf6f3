import { type Quota, type QuotaKind, type QuotaStatus, remainingOf, roll } from '../domain/quota.ts'
import { shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Queryable, SqlValue } from './database.ts'
import { bind } from './parameters.ts'
import { QUOTA_COLUMNS } from './quotas.ts'
import { sliceOf } from './slice.ts'
import { timestampParam } from './values.ts'

/** What a list selects. Deleted quotas only if the status says so. */
export interface QuotaFilter {
  userId?: number
  kind?: QuotaKind
  status?: QuotaStatus
}

export interface QuotaOrder {
  by: 'id' | 'expires_at' | 'remaining'
  descending: boolean
}

/** Where a page begins: after a number of rows, or after the row with this sort value and id. */
export type PageStart = { skip: number } | { after: PageKey }

/** The sort value of a page's last row (null is highest; in the order of ids it is the id) and its id. */
interface PageKey {
  value: number | null
  id: number
}

export interface QuotaSlice {
  quotas: Quota[]
  /** How many quotas the filter selects; absent if the page began after a key. */
  total?: number
  /** Where the next page begins; null on the last. */
  next: PageKey | null
}

/** A page of quotas as of `now`, with its total from the same snapshot. */
export function listQuotas(
  db: Queryable,
  filter: QuotaFilter,
  order: QuotaOrder,
  start: PageStart,
  size: number,
  now: EpochMs,
): Promise<QuotaSlice> {
  const query = { filter, order, start, size, now }
  return order.by === 'remaining' ? listByRemaining(db, query) : listByColumn(db, query)
}

interface ListQuery {
  filter: QuotaFilter
  order: QuotaOrder
  start: PageStart
  size: number
  now: EpochMs
}

/** The column's value with nulls highest, as `quota_list_by_expiry` holds it. */
const ORDER_KEYS = { id: 'id', expires_at: `coalesce(expires_at, 'infinity'::timestamptz)` }

async function listByColumn(db: Queryable, { filter, order, start, size, now }: ListQuery): Promise<QuotaSlice> {
  const by = order.by === 'expires_at' ? 'expires_at' : 'id'
  const direction = order.descending ? 'desc' : 'asc'
  const values: SqlValue[] = []
  const cursorBound = 'after' in start && by === 'expires_at' ? (order.descending ? 'above' : 'below') : undefined
  const selected = conditionOf(filter, now, values, cursorBound)
  const orderBy = by === 'id' ? `id ${direction}` : `${ORDER_KEYS.expires_at} ${direction}, id ${direction}`

  if ('after' in start) {
    const after = afterKey(by, order.descending, start.after, values)
    const quotas = await db.query<Quota>({
      text: `select ${QUOTA_COLUMNS} from quota where ${selected} and ${after}
             order by ${orderBy} limit ${bind(values, size + 1)}`,
      values,
    })
    return pageOf(quotas, size, quota => quota[by])
  }

  const total = totalOf(filter) ?? `select count(*) from quota where ${selected}`
  const rows = await db.query<Quota & { total: number }>({
    text: `select t.total, q.* from (select (${total})::bigint as total) t
           left join (select ${QUOTA_COLUMNS} from quota where ${selected}
                      order by ${orderBy} limit ${bind(values, size + 1)} offset ${bind(values, start.skip)}) q on true
           order by ${by === 'id' ? `q.id ${direction}` : `coalesce(q.expires_at, 'infinity') ${direction}, q.id ${direction}`}`,
    values,
  })
  const quotas = rows.filter(row => row.id !== null)
  return { ...pageOf(quotas, size, quota => quota[by]), total: rows[0]?.total ?? 0 }
}

/**
 * What remains depends on the windows that closed since the row was written, so no column holds it. One user has few
 * rows; they are sorted here.
 */
async function listByRemaining(db: Queryable, { filter, order, start, size, now }: ListQuery): Promise<QuotaSlice> {
  const values: SqlValue[] = []
  const quotas = await db.query<Quota>({
    text: `select ${QUOTA_COLUMNS} from quota where ${conditionOf(filter, now, values)}`,
    values,
  })
  const sign = order.descending ? -1 : 1
  const ranked = quotas
    .map(quota => ({ quota, key: { value: remainingOf(roll(quota, now).quota), id: quota.id } }))
    .sort((one, other) => sign * compareKeys(one.key, other.key))
  const rest =
    'after' in start
      ? ranked.filter(({ key }) => sign * compareKeys(key, start.after) > 0)
      : ranked.slice(Math.min(start.skip, ranked.length))
  const { items, hasMore } = sliceOf(rest, size)
  return {
    quotas: items.map(({ quota }) => quota),
    ...('skip' in start ? { total: ranked.length } : {}),
    next: hasMore ? (items.at(-1)?.key ?? null) : null,
  }
}

function compareKeys(one: PageKey, other: PageKey): number {
  const [first, second] = [one.value ?? Number.POSITIVE_INFINITY, other.value ?? Number.POSITIVE_INFINITY]
  return first === second ? one.id - other.id : first - second
}

/** A page of rows that were read with a limit of `size + 1`. */
function pageOf(rows: readonly Quota[], size: number, sortValue: (quota: Quota) => number | null): QuotaSlice {
  const { items, hasMore } = sliceOf(rows, size)
  const last = items.at(-1)
  return { quotas: items, next: hasMore && last !== undefined ? { value: sortValue(last), id: last.id } : null }
}

function afterKey(by: 'id' | 'expires_at', descending: boolean, key: PageKey, values: SqlValue[]): string {
  const comparison = descending ? '<' : '>'
  if (by === 'id') return `id ${comparison} ${bind(values, key.id)}`
  const expiry = bind(values, key.value === null ? 'infinity' : timestampParam(key.value))
  return `(${ORDER_KEYS.expires_at}, id) ${comparison} (${expiry}::timestamptz, ${bind(values, key.id)})`
}

/** The side from which a cursor already bounds the list by expiry. */
type Bound = 'above' | 'below' | undefined

function conditionOf(filter: QuotaFilter, now: EpochMs, values: SqlValue[], cursorBound?: Bound): string {
  const conditions = [filter.status === 'deleted' ? 'deleted_at is not null' : 'deleted_at is null']
  if (filter.userId !== undefined) {
    conditions.push(`shard = ${bind(values, shardOf(filter.userId))}`, `user_id = ${bind(values, filter.userId)}`)
  }
  if (filter.kind !== undefined) conditions.push(`kind = ${bind(values, filter.kind)}`)
  if (filter.status !== undefined && filter.status !== 'deleted') {
    conditions.push(statusCondition(filter.status, `${bind(values, timestampParam(now))}::timestamptz`, cursorBound))
  }
  return conditions.join(' and ')
}

/**
 * Whether `statusOf` of the rolled quota is this one, in SQL. Each status has a condition of its own, instead of one
 * expression that is compared, so that indexes can serve it: a range of the list by expiry, the suspended quotas, those
 * yet to start. Only the headroom is read from the rows: no index may hold a counter.
 *
 * If a cursor bounds the range of expiry from the same side, `now` is not a second bound of it: of two bounds
 * PostgreSQL may begin at the farther one.
 */
function statusCondition(status: Exclude<QuotaStatus, 'deleted'>, now: string, cursorBound: Bound): string {
  const expired = cursorBound === 'above' ? `expires_at <= ${now}` : `${ORDER_KEYS.expires_at} <= ${now}`
  const unexpired =
    cursorBound === 'below' ? `(expires_at is null or expires_at > ${now})` : `${ORDER_KEYS.expires_at} > ${now}`
  const started = `${unexpired} and enabled and starts_at <= ${now}`
  // An unlimited quota has no headroom to compare, and is never exhausted.
  const isExhausted = `(${headroomAt(now)} <= 0)`
  switch (status) {
    case 'expired':
      return expired
    case 'suspended':
      return `${unexpired} and not enabled`
    case 'scheduled':
      return `${unexpired} and enabled and starts_at > ${now}`
    case 'exhausted':
      return `${started} and ${isExhausted}`
    case 'active':
      return `${started} and ${isExhausted} is not true`
  }
}

/**
 * `headroomOf` the rolled quota; null if unlimited. It rolls one window only. After several windows the headroom may be
 * larger, but it is on the same side of 0, which is all that the status depends on.
 */
function headroomAt(now: string): string {
  const balance = '"limit" + rolled_over - used - reserved'
  return `(overage_limit + case when window_end <= ${now}
    then "limit" + least(rollover_limit, greatest(0, ${balance})) else ${balance} end)`
}

/** The total of a filter from the numbers in `shard_head`; undefined if PostgreSQL has to count. */
function totalOf({ userId, kind, status }: QuotaFilter): string | undefined {
  if (userId !== undefined || (status !== undefined && status !== 'deleted')) return undefined
  const prefix = status === 'deleted' ? 'deleted_' : ''
  const columns = kind === undefined ? ['grants', 'caps'] : [kind === 'grant' ? 'grants' : 'caps']
  return `select sum(${columns.map(column => prefix + column).join(' + ')}) from shard_head`
}
