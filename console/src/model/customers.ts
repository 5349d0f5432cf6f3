import { csvLine } from '../../../src/domain/basics/csv.ts'
import { CUSTOMER_STATES } from '../../../src/domain/forecasts/customer-standing.ts'
import type { Api } from '../api/types.ts'
import { searchedReceiver } from './transfers.ts'
import { cursor, matching, oneOf, type StateOf, uint } from './url-parameters.ts'

export type Customer = Api['Customer']

/** The orders of the list; a minus is descending. Null is that of the view. */
const SORTS = ['name', 'used', 'sent', 'denied', 'growth', 'last_message', 'unmet', 'urgency'] as const
export type CustomerSort = (typeof SORTS)[number] | `-${(typeof SORTS)[number]}`

export const VIEWS = ['at_risk', 'unmet'] as const

/** What the URL of the list says. */
export const CUSTOMER_FILTERS = {
  view: oneOf(VIEWS, null),
  state: oneOf(CUSTOMER_STATES, null),
  plan: uint,
  search: matching(/^.{1,128}$/u),
  sort: oneOf(
    SORTS.flatMap(sort => [sort, `-${sort}`] as const),
    null,
  ),
}
export const CUSTOMER_STATE = { ...CUSTOMER_FILTERS, cursor }
export type CustomerFilters = StateOf<typeof CUSTOMER_FILTERS>

/** The order that the list has if the URL names none. */
export function sortOf({ view, sort }: Pick<CustomerFilters, 'view' | 'sort'>): CustomerSort {
  return sort ?? (view === 'at_risk' ? '-urgency' : view === 'unmet' ? '-unmet' : '-sent')
}

/** The query of the API. A reference that is typed as `ref:…` is searched without that. */
export function customersRequest({ plan, search, sort, ...filters }: CustomerFilters) {
  return {
    ...filters,
    plan_id: plan,
    search: search === null ? null : searchedReceiver(search),
    sort: SORTS.find(one => sort === one || sort === `-${one}`) ?? null,
    order: sort === null ? null : sort.startsWith('-') ? 'desc' : 'asc',
  } as const
}

/** Whether more than a view is selected. */
export const isFiltered = ({ state, plan, search }: CustomerFilters) => (state ?? plan ?? search) !== null

/* ── The spark ──────────────────────────────────────────────────────────────────────────────────────────────────── */

export const SPARK = { width: 90, height: 20 }

/** The path of a line through the days, from left to right; the highest day reaches the top. */
export function sparkOf(daily: readonly number[]): string {
  const most = Math.max(1, ...daily)
  const step = SPARK.width / Math.max(1, daily.length - 1)
  const rounded = (value: number) => Math.round(value * 10) / 10
  return daily
    .map((units, day) => `${day === 0 ? 'M' : 'L'}${rounded(day * step)} ${rounded(SPARK.height * (1 - units / most))}`)
    .join('')
}

/* ── As CSV ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** Columns of the file, the fields of the API by their names. */
const COLUMNS = [
  ...(['user_id', 'user_ref', 'user_name', 'state', 'reason', 'sendable', 'until', 'quota_id'] as const),
  ...(['countries', 'message_types', 'used_percent', 'sent_units', 'denied_units', 'denied_percent'] as const),
  ...(['growth_percent', 'unmet_units', 'last_message_at', 'figures_at', 'daily'] as const),
] satisfies (keyof Customer)[]

export const CSV_HEAD = csvLine(COLUMNS)

export function csvLineOf(customer: Customer): string {
  const values: Record<string, unknown> = { ...customer, sendable: customer.sendable ?? 'unlimited' }
  return csvLine(COLUMNS.map(name => (Array.isArray(values[name]) ? values[name].join(' ') : values[name])))
}
