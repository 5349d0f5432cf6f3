import Type from 'typebox'
import { type Customer, CustomersQuery } from '../../contract/customers.ts'
import { closed } from '../../contract/schemas.ts'
import type { Database } from '../../db/connection/database.ts'
import type { Page } from '../../db/lists/pages.ts'
import { FIGURES_DELAY_MS } from '../../db/users/customer-figures.ts'
import {
  type CustomerFilter,
  type CustomerKey,
  type ListedCustomer,
  listCustomers,
  searchCustomers,
} from '../../db/users/customers.ts'
import { FIGURE_DAYS, NEWLY_GROWN } from '../../domain/forecasts/customer-figures.ts'
import { isRisk, type Standing, standingOf } from '../../domain/forecasts/customer-standing.ts'
import { type EpochMs, formatTimestamp, formatTimestampOrNull } from '../../domain/time/time.ts'
import { cursorInteger } from '../platform/cursors.ts'
import { giveWay } from '../platform/turns.ts'
import { listOf } from '../resource/list.ts'
import { customersRequestOf, type Filters } from './requests.ts'

/** The customers in an order, or those that a search finds. */
export const customers = listOf({
  query: CustomersQuery,
  key: Type.Object(
    { value: Type.Union([Type.Integer(), Type.String({ maxLength: 200 })]), user_id: cursorInteger },
    closed,
  ),
  read: readCustomers,
  view: (customer: Customer) => customer,
  more: ({ walkedAt, has_more }, now) => ({
    as_of: formatTimestamp(now),
    complete_until: completeUntil(walkedAt),
    ...(has_more === undefined ? {} : { has_more }),
  }),
})

/** Until when the usage is in the figures. */
export function completeUntil(walkedAt: EpochMs | null): string | null {
  return formatTimestampOrNull(walkedAt === null ? null : Math.max(0, walkedAt - FIGURES_DELAY_MS))
}

/** @throws Problem `invalid_request` if filters contradict each other, or the place */
export async function readCustomers(db: Database, filters: Filters, page: Page<CustomerKey>) {
  const { filter, order } = customersRequestOf(filters, page.after)
  const { search } = filters
  const { items, ...rest } =
    search === undefined
      ? { ...(await listCustomers(db, filter, order, page)), has_more: undefined }
      : await searchCustomers(db, search, filter, order, page)
  return { ...rest, items: await itemsOf(items, filter, page.now) }
}

/** Customers whose standing is computed before senders have their turn: of most, it takes some 20 µs. */
const AT_ONCE = 10

async function itemsOf(
  customers: readonly ListedCustomer[],
  { view, state }: CustomerFilter,
  at: EpochMs,
): Promise<Customer[]> {
  const items: Customer[] = []
  for (const [index, customer] of customers.entries()) {
    if (index > 0 && index % AT_ONCE === 0) await giveWay()
    const item = customerOf(customer, at)
    const isIn = (state === undefined || item.state === state) && (view !== 'at_risk' || isRisk(item.state))
    if (isIn) items.push(item)
  }
  return items
}

const NO_FIGURES = {
  ...{ daily: new Array<number>(FIGURE_DAYS).fill(0), sent: 0, sent_before: 0, denied: 0, denied_share: 0, unmet: 0 },
  ...{ growth: 0, daily_rate: null, last_message_at: 0, computed_at: null },
}

function customerOf({ user_id, ...customer }: ListedCustomer, at: EpochMs): Customer {
  const figures = customer.figures ?? NO_FIGURES
  const { sent, sent_before, denied } = figures
  const quotas = customer.quotas.filter(({ expires_at }) => expires_at === null || expires_at > at)
  const lately = { dailyRate: figures.daily_rate, isAsking: sent + denied > 0 }
  return {
    user_id,
    ...standingViewOf(standingOf(user_id, quotas, lately, at)),
    daily: [...figures.daily],
    sent_units: sent,
    denied_units: denied,
    denied_percent: sent + denied === 0 ? null : percentOf(figures.denied_share),
    growth_percent: sent_before === 0 || figures.growth === NEWLY_GROWN ? null : figures.growth,
    last_message_at: figures.last_message_at === 0 ? null : formatTimestamp(figures.last_message_at),
    unmet_units: figures.unmet,
    figures_at: formatTimestampOrNull(figures.computed_at),
  }
}

function standingViewOf({ used_share, until, countries, message_types, ...standing }: Standing) {
  return {
    ...standing,
    until: formatTimestampOrNull(until),
    countries: countries && [...countries],
    message_types: message_types && [...message_types],
    used_percent: percentOf(used_share),
  }
}

/** Tenths, rounded down: 100% is only what is used up. */
const percentOf = (share: number) => Math.floor(share / 1_000) / 10
