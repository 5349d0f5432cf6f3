import Type, { type Static } from 'typebox'
import { BOUNDED_SORTS, CUSTOMER_FILTERS, type CustomersQuery } from '../../contract/customers.ts'
import { closed } from '../../contract/schemas.ts'
import type { CustomerFilter, CustomerKey, CustomerOrder, CustomerSort } from '../../db/users/customers.ts'
import { MAX_INTEGER } from '../../domain/bounds.ts'
import { MAX_SHARE } from '../../domain/customer-standing.ts'
import { LATEST } from '../../domain/time.ts'
import { invalidRequest } from '../../errors.ts'
import { cursorInteger, cursorsOf, invalidCursor, pageRequestOf } from '../platform/cursors.ts'

/** Order and filters, as a query names them. */
const Filters = Type.Object({ ...CUSTOMER_FILTERS, search: Type.Optional(Type.String()) })
type Filters = Static<typeof Filters>
const FILTERS = Object.keys(Filters.properties)

/** The last customer of a page: its id (`of`) and the figure in the order (`key`). */
const cursors = cursorsOf(
  Type.Object(
    { key: Type.Union([Type.Integer(), Type.String({ maxLength: 200 })]), of: cursorInteger, ...CUSTOMER_FILTERS },
    closed,
  ),
)

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
  after: CustomerKey | undefined
  search: string | undefined
  cursorAfter(key: CustomerKey): string
}

/** @throws Problem `invalid_request` if parameters contradict each other, or the cursor */
export function customersRequestOf(query: CustomersQuery): CustomersRequest {
  const { filters, after } = pageRequestOf<CustomersQuery, Filters, CustomerKey>(query, FILTERS, text => {
    const { key: value, of: user_id, ...rest } = cursors.read(text)
    const { by } = orderOf(rest)
    const isOfOrder =
      by === 'name' ? typeof value === 'string' : Number(value) >= RANGES[by][0] && Number(value) <= RANGES[by][1]
    if (!isOfOrder || (by !== 'name' && typeof value !== 'number')) throw invalidCursor()
    return { filters: rest, after: { value, user_id } }
  })
  const { sort: _sort, order: _order, search, least, most, ...filter } = filters
  const order = orderOf(filters)
  const bounds = boundsOf(filters, order)
  return {
    filter: { ...filter, ...bounds },
    order,
    after,
    search,
    cursorAfter: ({ value, user_id }) => cursors.write({ key: value, of: user_id, ...filters }),
  }
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
