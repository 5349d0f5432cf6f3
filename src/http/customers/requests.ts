import { BOUNDED_SORTS, type CustomersQuery } from '../../contract/customers.ts'
import type { CustomerFilter, CustomerKey, CustomerOrder, CustomerSort } from '../../db/users/customers.ts'
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { MAX_SHARE } from '../../domain/forecasts/customer-standing.ts'
import { LATEST } from '../../domain/time/time.ts'
import { invalidRequest } from '../../errors.ts'
import { invalidCursor } from '../platform/cursors.ts'
import type { FiltersOf } from '../resource/list.ts'

export type Filters = FiltersOf<CustomersQuery>

/** The figures that a cursor can hold, from and to. */
const RANGES: Readonly<Record<Exclude<CustomerSort, 'name'>, readonly [from: number, to: number]>> = {
  urgency: [0, MAX_INTEGER],
  used: [0, MAX_SHARE],
  denied: [0, MAX_SHARE],
  growth: [-100, MAX_SHARE],
  sent: [0, MAX_INTEGER],
  unmet: [0, MAX_INTEGER],
  last_message: [0, LATEST],
}

export interface CustomersRequest {
  filter: CustomerFilter
  order: CustomerOrder
}

/** @throws Problem `invalid_request` if parameters contradict each other, or the place */
export function customersRequestOf(filters: Filters, after: CustomerKey | undefined): CustomersRequest {
  const { sort: _sort, order: _order, search: _search, least: _least, most: _most, ...filter } = filters
  const order = orderOf(filters)
  if (after !== undefined && !isOfOrder(after.value, order)) throw invalidCursor()
  return { filter: { ...filter, ...boundsOf(filters, order) }, order }
}

function isOfOrder(value: number | string, { by }: CustomerOrder): boolean {
  if (by === 'name' || typeof value === 'string') return by === 'name' && typeof value === 'string'
  return value >= RANGES[by][0] && value <= RANGES[by][1]
}

function orderOf({ view, sort, order }: Filters): CustomerOrder {
  const by = sort ?? (view === 'at_risk' ? 'urgency' : view === 'unmet' ? 'unmet' : 'sent')
  return { by, descending: order === undefined ? by !== 'name' : order === 'desc' }
}

const isBounded = (by: CustomerSort): by is keyof typeof BOUNDED_SORTS => by in BOUNDED_SORTS

/** `least` and `most` in the unit of the stored figure. */
function boundsOf({ least, most }: Filters, { by }: CustomerOrder): Pick<CustomerFilter, 'least' | 'most'> {
  if (least === undefined && most === undefined) return {}
  if (!isBounded(by)) {
    const message = `is accepted only in the order of ${Object.keys(BOUNDED_SORTS).join(', ')}`
    throw invalidRequest([{ path: least === undefined ? 'most' : 'least', message }])
  }
  const [from, to] = RANGES[by]
  const scale = by === 'used' || by === 'denied' ? 10_000 : 1
  const stored = (value: number) => Math.max(from, Math.min(value * scale, to))
  return {
    ...(least === undefined ? {} : { least: stored(least) }),
    ...(most === undefined ? {} : { most: stored(most) }),
  }
}
