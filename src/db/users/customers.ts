/** The list of customers: the figures of all users in the order of one of them, with the quotas of those on a page. */

import { shardOf } from '../../domain/basics/shard.ts'
import { type CustomerState, isRisk, urgenciesOf } from '../../domain/forecasts/customer-standing.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { LISTS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { allOf, cut, MAX_SCANNED, type Page, type Slice, scanPage } from '../lists/pages.ts'
import { quotasOfUsers } from '../quotas/quotas.ts'
import { figuresWalkedAt, type StoredFigures } from './customer-figures.ts'
import { findUsers, idRangesOf } from './search.ts'

/** The columns of the orders. */
const KEYS = {
  name: sql`name_key`,
  used: sql`used_share`,
  denied: sql`denied_share`,
  growth: sql`growth`,
  sent: sql`sent`,
  last_message: sql`last_message_at`,
  unmet: sql`unmet`,
  urgency: sql`urgency`,
} satisfies Record<string, Sql>
export type CustomerSort = keyof typeof KEYS

export interface CustomerOrder {
  by: CustomerSort
  descending: boolean
}

/** Which customers a list has: at risk, or those who were denied units that they lack, though not on purpose. */
type CustomerView = 'at_risk' | 'unmet'

export interface CustomerFilter {
  view?: CustomerView
  state?: CustomerState
  plan_id?: number
  /** Bounds of the figure that the list is in the order of, both included. */
  least?: number
  most?: number
}

/** The place of a customer in an order. Of a time, the key is in milliseconds. */
export interface CustomerKey {
  value: number | string
  user_id: number
}

/** A customer as the figures say, with the undeleted quotas that may be unexpired. */
export interface ListedCustomer {
  /** Undefined: no walk has reached the user yet. */
  figures: StoredFigures | undefined
  user_id: number
  quotas: readonly Quota[]
}

export interface CustomerSlice extends Slice<ListedCustomer, CustomerKey> {
  /** When the oldest of the shards' last walks began; null: not all users have figures yet. */
  walkedAt: EpochMs | null
}

/** Users of a plan that a page sorts, at most: all of a larger one are looked for among all customers. */
const MAX_SORTED = 2_000

const FIGURES = sql`user_id, computed_at, due_at, sequence, profile_version, name_key, state, urgency, used_share, daily, sent, sent_before,
  denied, denied_share, unmet, growth, daily_rate, last_message_at`

/** A page of customers in an order. */
export function listCustomers(
  db: Database,
  filter: CustomerFilter,
  order: CustomerOrder,
  { after, size, now, maxScanned = MAX_SCANNED }: Page<CustomerKey>,
): Promise<CustomerSlice> {
  // One snapshot, so that the next page begins exactly where this scan ended.
  return db.transaction(async tx => {
    await tx.query({ text: LISTS })
    const scan = { filter, order, after, isOfPlan: await isSmallPlan(tx, filter.plan_id) }
    const [values, keys]: [SqlValue[], SqlValue[]] = [[], []]
    const scanned = scanOf(scan, values, maxScanned)
    const text = sql`select c.* from (${scanned}) c ${joinOf(filter)} where ${conditionsOf(filter, values)}
      order by ${orderBy(order)} limit ${bind(values, size + 1)}`
    const end = sql`select * from (${scanOf(scan, keys, maxScanned + 1)}) c order by ${orderBy(order)} offset ${bind(keys, maxScanned - 1)}`
    const { items, next } = await scanPage(tx, size, {
      page: { text, values },
      keyOf: (row: StoredFigures) => keyOf(row, order),
      end: { text: end, values: keys },
    })
    return { items: await withQuotas(tx, items, now), next, walkedAt: await figuresWalkedAt(tx) }
  }, 'snapshot')
}

/** The customers that a search finds, `size` at most, and whether it finds more. Users that no walk has reached yet are among them. */
export function searchCustomers(
  db: Database,
  text: string,
  filter: CustomerFilter,
  order: CustomerOrder,
  { size, now }: Page<CustomerKey>,
): Promise<CustomerSlice & { has_more: boolean }> {
  return db.transaction(async tx => {
    await tx.query({ text: LISTS })
    const { items: found, next } = cut(await findUsers(tx, text, idRangesOf(text), size + 1, now), size, last => last)
    const ids = found.map(({ user_id }) => user_id)
    const rows = await figuresOfUsers(tx, ids, filter, order)
    const sign = order.descending ? -1 : 1
    const customers = await withQuotas(
      tx,
      rows.toSorted((one, other) => sign * compareKeys(keyOf(one, order), keyOf(other, order))),
      now,
    )
    const isFiltered = Object.values(filter).some(value => value !== undefined)
    const fresh = isFiltered ? [] : ids.filter(id => !rows.some(({ user_id }) => user_id === id))
    const unreached = await quotasOf(tx, fresh, now)
    return {
      items: [
        ...customers,
        ...fresh.map(user_id => ({ user_id, figures: undefined, quotas: unreached.get(user_id) ?? [] })),
      ],
      next: null,
      has_more: next !== null,
      walkedAt: await figuresWalkedAt(tx),
    }
  }, 'snapshot')
}

/** How many customers at risk are counted, at most. The index of urgencies has those of each state together. */
const MAX_COUNTED = 5_000

/** How many customers are in each state of risk, as their figures say, and whether there may be more. */
export function countAtRisk(
  db: Database,
  max = MAX_COUNTED,
): Promise<{ counts: ReadonlyMap<CustomerState, number>; isMore: boolean }> {
  return db.transaction(async tx => {
    await tx.query({ text: LISTS })
    const rows = await tx.query<{ state: CustomerState; count: number }>({
      text: sql`select state, count(*)::int as count from (
          select state from customer_figures where urgency > 0 order by urgency desc, user_id desc limit $1
        ) c group by state`,
      values: [max],
    })
    const total = rows.reduce((sum, { count }) => sum + count, 0)
    return { counts: new Map(rows.map(({ state, count }) => [state, count])), isMore: total === max }
  }, 'snapshot')
}

function figuresOfUsers(
  tx: Transaction,
  ids: readonly number[],
  filter: CustomerFilter,
  order: CustomerOrder,
): Promise<StoredFigures[]> {
  return runPerCitusShard(tx, ids, shardOf, part => {
    const values: SqlValue[] = [part.map(shardOf), part]
    const selected = allOf([...boundsOf(filter, order, values), conditionsOf(filter, values)])
    return tx.query<StoredFigures>({
      text: sql`select c.* from (
               select f.* from unnest($1::smallint[], $2::bigint[]) k (of_shard, of_user) cross join lateral (
                 select * from customer_figures f
                 where f.shard = k.of_shard and f.user_id = k.of_user ${shardFilter(tx, sql`f.shard`, sql`$1`)} offset 0
               ) f
             ) c ${joinOf(filter, shardFilter(tx, sql`a.account_shard`, sql`$1`))} where ${selected}`,
      values,
    })
  })
}

function compareKeys(one: CustomerKey, other: CustomerKey): number {
  if (one.value === other.value) return one.user_id - other.user_id
  return one.value < other.value ? -1 : 1
}

/* ── Order and filters ──────────────────────────────────────────────────────────────────────────────────────────── */

const orderBy = ({ by, descending }: CustomerOrder): Sql =>
  descending ? sql`${KEYS[by]} desc, user_id desc` : sql`${KEYS[by]}, user_id`

/** What a page reads, at most. */
interface Scan {
  filter: CustomerFilter
  order: CustomerOrder
  after: CustomerKey | undefined
  /** Whether it reads all users of the plan of the filter, and sorts them; else users in the order of an index. */
  isOfPlan: boolean
}

/** Whether a plan has so few users that all of them are read. A cluster refuses to look each of them up. */
async function isSmallPlan(tx: Transaction, plan: number | undefined): Promise<boolean> {
  if (plan === undefined || tx.isCluster) return false
  const [row] = await tx.query<{ users: number }>({
    text: sql`select count(*) as users from (select from account where plan_id = $1 limit $2) a`,
    values: [plan, MAX_SORTED + 1],
  })
  return row !== undefined && row.users <= MAX_SORTED
}

/** The rows that a page reads, in its order. */
function scanOf({ filter, order, after, isOfPlan }: Scan, values: SqlValue[], limit: number): Sql {
  const { by, descending } = order
  const conditions = boundsOf(filter, order, values)
  if (after !== undefined) {
    const key = by === 'last_message' ? timestampParam(Number(after.value)) : after.value
    conditions.push(
      sql`(${KEYS[by]}, user_id) ${descending ? sql`<` : sql`>`} (${bind(values, key)}, ${bind(values, after.user_id)})`,
    )
  }
  // `offset 0` makes the planner look up one after the other.
  const ofPlan = sql`(select shard as of_shard, user_id as of_user from account
      where plan_id = ${isOfPlan ? bind(values, filter.plan_id ?? null) : sql`null`}
      order by plan_id, plan_version, shard, user_id limit ${sqlInteger(MAX_SORTED)}) a
    cross join lateral (select * from customer_figures where shard = of_shard and user_id = of_user offset 0) f`
  const where = conditions.length === 0 ? sql`` : sql`where ${joinSql(conditions, sql` and `)}`
  return sql`select shard, ${FIGURES} from ${isOfPlan ? ofPlan : sql`customer_figures`} ${where}
    order by ${orderBy(order)} limit ${bind(values, limit)}`
}

/** What an index bounds: conditions on the figure that the list is in the order of. */
function boundsOf({ view, state, least, most }: CustomerFilter, { by }: CustomerOrder, values: SqlValue[]): Sql[] {
  const bounds: Sql[] = []
  if (least !== undefined) bounds.push(sql`${KEYS[by]} >= ${bind(values, least)}`)
  if (most !== undefined) bounds.push(sql`${KEYS[by]} <= ${bind(values, most)}`)
  if (by === 'unmet' && view === 'unmet') bounds.push(sql`unmet > 0`)
  if (by === 'urgency') {
    if (state !== undefined && isRisk(state)) {
      const { from, to } = urgenciesOf(state)
      bounds.push(sql`urgency >= ${bind(values, from)}`, sql`urgency < ${bind(values, to)}`)
    } else if (view === 'at_risk') bounds.push(sql`urgency > 0`)
  }
  return bounds
}

const VIEWS: Readonly<Record<CustomerView, Sql>> = {
  at_risk: sql`urgency > 0`,
  unmet: sql`unmet > 0 and state <> 'blocked_on_purpose'`,
}

/** The accounts of rows `c`, if the filter asks for what they have. @param within a further condition on them */
const joinOf = ({ plan_id }: CustomerFilter, within = sql``): Sql =>
  plan_id === undefined
    ? sql``
    : sql`join (select shard as account_shard, user_id as account_user, plan_id from account) a
        on a.account_shard = c.shard and a.account_user = c.user_id ${within}`

/** The conditions on rows `c` that were read. */
function conditionsOf({ view, state, plan_id }: CustomerFilter, values: SqlValue[]): Sql {
  const conditions: Sql[] = []
  if (view !== undefined) conditions.push(VIEWS[view])
  if (state !== undefined) conditions.push(sql`state = ${bind(values, state)}`)
  if (plan_id !== undefined) conditions.push(sql`a.plan_id = ${bind(values, plan_id)}`)
  return allOf(conditions)
}

function keyOf(row: StoredFigures, { by }: CustomerOrder): CustomerKey {
  const columns: Record<CustomerSort, number | string> = {
    name: row.name_key,
    used: row.used_share,
    denied: row.denied_share,
    growth: row.growth,
    sent: row.sent,
    last_message: row.last_message_at,
    unmet: row.unmet,
    urgency: row.urgency,
  }
  return { value: columns[by], user_id: row.user_id }
}

/* ── Quotas ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

async function withQuotas(tx: Transaction, rows: readonly StoredFigures[], now: EpochMs): Promise<ListedCustomer[]> {
  const ids = rows.map(({ user_id }) => user_id)
  const quotas = await quotasOf(tx, ids, now)
  return rows.map(figures => ({
    user_id: figures.user_id,
    figures,
    quotas: quotas.get(figures.user_id) ?? [],
  }))
}

/** In one statement for all. */
async function quotasOf(tx: Transaction, ids: readonly number[], now: EpochMs): Promise<Map<number, Quota[]>> {
  if (ids.length === 0) return new Map()
  const keys = ids.map(user_id => ({ user_id }))
  return Map.groupBy(await quotasOfUsers(tx, keys, now, 'read'), ({ user_id }) => user_id)
}
