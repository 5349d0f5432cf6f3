import { type Quota, type QuotaKind, type QuotaStatus, remainingOf, roll } from '../domain/quota.ts'
import { shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { type Queryable, type SqlValue, timestampParam } from './database.ts'
import { QUOTA_COLUMNS } from './quotas.ts'

/** What a list selects. Deleted quotas are selected only by asking for them. */
export interface QuotaFilter {
  userId?: number
  kind?: QuotaKind
  status?: QuotaStatus
}

export interface QuotaOrder {
  by: 'id' | 'expires_at' | 'remaining'
  descending: boolean
}

/** Where a page begins: after so many rows, or after the row with this sort value and id. */
export type PageStart = { skip: number } | { after: PageKey }

/** The sort value of a page's last row (null is highest; for order by id it is the id) and its id. */
interface PageKey {
  value: number | null
  id: number
}

export interface QuotaSlice {
  quotas: Quota[]
  /** All that the filter selects; absent when walking from a key. */
  total?: number
  /** Where the next page begins; null on the last. */
  next: PageKey | null
}

/** Selects a page of quotas as of `now`, its total from the same snapshot. */
export function listQuotas(
  db: Queryable,
  filter: QuotaFilter,
  order: QuotaOrder,
  start: PageStart,
  size: number,
  now: EpochMs,
): Promise<QuotaSlice> {
  return order.by === 'remaining'
    ? listByRemaining(db, filter, order, start, size, now)
    : listByColumn(db, filter, order, start, size, now)
}

/** The column's value with nulls highest, as `quota_list_by_expiry` holds it. */
const ORDER_KEYS = { id: 'id', expires_at: `coalesce(expires_at, 'infinity'::timestamptz)` }

async function listByColumn(
  db: Queryable,
  filter: QuotaFilter,
  order: QuotaOrder,
  start: PageStart,
  size: number,
  now: EpochMs,
): Promise<QuotaSlice> {
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
    return { quotas: quotas.slice(0, size), next: nextKey(quotas, size, quota => quota[by]) }
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
  return {
    quotas: quotas.slice(0, size),
    total: rows[0]?.total ?? 0,
    next: nextKey(quotas, size, quota => quota[by]),
  }
}

/**
 * What remains depends on the windows that closed since the row was written, so it is not in the table: within one
 * user the rows are few, and are ordered here.
 */
async function listByRemaining(
  db: Queryable,
  filter: QuotaFilter,
  order: QuotaOrder,
  start: PageStart,
  size: number,
  now: EpochMs,
): Promise<QuotaSlice> {
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
  const page = rest.slice(0, size)
  return {
    quotas: page.map(({ quota }) => quota),
    ...('skip' in start ? { total: ranked.length } : {}),
    next: rest.length > size ? (page.at(-1)?.key ?? null) : null,
  }
}

function compareKeys(one: PageKey, other: PageKey): number {
  const [first, second] = [one.value ?? Number.POSITIVE_INFINITY, other.value ?? Number.POSITIVE_INFINITY]
  return first === second ? one.id - other.id : first - second
}

/** One row more than the page was asked for: if it came, there is a next page. */
function nextKey(quotas: readonly Quota[], size: number, sortValue: (quota: Quota) => number | null): PageKey | null {
  const last = quotas[size - 1]
  return quotas.length > size && last !== undefined ? { value: sortValue(last), id: last.id } : null
}

function afterKey(by: 'id' | 'expires_at', descending: boolean, key: PageKey, values: SqlValue[]): string {
  const comparison = descending ? '<' : '>'
  if (by === 'id') return `id ${comparison} ${bind(values, key.id)}`
  const expiry = bind(values, key.value === null ? 'infinity' : timestampParam(key.value))
  return `(${ORDER_KEYS.expires_at}, id) ${comparison} (${expiry}::timestamptz, ${bind(values, key.id)})`
}

/** Adds a parameter and names it. */
function bind(values: SqlValue[], value: SqlValue): string {
  values.push(value)
  return `$${values.length}`
}

/** From which side a cursor already bounds the list by expiry. */
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
 * Whether `statusOf` of the rolled quota is this one, in SQL. Each condition is spelled out, instead of comparing one
 * expression for all, so that indexes can serve it: a range of the list by expiry, the suspended, those yet to start.
 * Only what is left to draw has to be looked up in the rows: no index may hold a counter.
 *
 * Where a cursor bounds that range from the same side, now is kept out of the range: of two bounds PostgreSQL may
 * begin at the farther one.
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
 * `headroomOf` the rolled quota; null when unlimited. After several windows it may be more than after the one that is
 * rolled here, but never another side of 0, which is all that counts.
 */
function headroomAt(now: string): string {
  const balance = '"limit" + rolled_over - used - reserved'
  return `(overage_limit + case when window_end <= ${now}
    then "limit" + least(rollover_limit, greatest(0, ${balance})) else ${balance} end)`
}

/** The total of a filter that the ends of the shards keep; undefined if it has to be counted. */
function totalOf({ userId, kind, status }: QuotaFilter): string | undefined {
  if (userId !== undefined || (status !== undefined && status !== 'deleted')) return undefined
  const prefix = status === 'deleted' ? 'deleted_' : ''
  const columns = kind === undefined ? ['grants', 'caps'] : [kind === 'grant' ? 'grants' : 'caps']
  return `select sum(${columns.map(column => prefix + column).join(' + ')}) from shard_head`
}
