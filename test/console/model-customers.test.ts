import { expect, test } from 'vitest'
import { isBlockedInPart } from '../../console/src/model/customer-state.ts'
import {
  CUSTOMER_FILTERS,
  type Customer,
  type CustomerFilters,
  customersRequest,
  sortOf,
  sparkOf,
} from '../../console/src/model/customers.ts'

const NONE: CustomerFilters = { view: null, state: null, plan: null, search: null, sort: null }

const OK: Customer = {
  user_id: 7,
  state: 'ok',
  reason: null,
  sendable: 100,
  until: null,
  quota_id: null,
  countries: null,
  message_types: null,
  used_percent: 0,
  sent_units: 0,
  denied_units: 0,
  denied_percent: null,
  growth_percent: null,
  unmet_units: 0,
  last_message_at: null,
  figures_at: '2026-03-15T12:00:00.000Z',
  daily: [],
}

test.each<[string, Partial<CustomerFilters>, sort: string, asked: object]>([
  ['all', {}, '-sent', { sort: null, order: null }],
  ['those at risk', { view: 'at_risk' }, '-urgency', { view: 'at_risk', sort: null }],
  ['those at risk by name', { view: 'at_risk', sort: 'name' }, 'name', { sort: 'name', order: 'asc' }],
  ['a plan by growth', { plan: 3, sort: '-growth' }, '-growth', { plan_id: 3, sort: 'growth', order: 'desc' }],
  ['a reference', { search: 'ref:c-1' }, '-sent', { search: 'c-1' }],
])('the list of %s has its order, and asks for it', (_name, filters, sort, asked) => {
  expect(sortOf({ ...NONE, ...filters })).toBe(sort)
  expect(customersRequest({ ...NONE, ...filters })).toMatchObject(asked)
})

test.each<[Partial<Customer>, boolean]>([
  [{ state: 'blocked', sendable: 20, countries: ['FR'] }, true],
  [{ state: 'blocked', sendable: null, message_types: ['otp'] }, true],
  [{ state: 'blocked', sendable: 0, countries: ['FR'] }, false],
  [{ state: 'blocked', sendable: 0 }, false],
  [{ state: 'near_limit', sendable: 20, countries: ['FR'] }, false],
])('a customer with %o is blocked in part: %s', (parts, isPart) => {
  expect(isBlockedInPart({ ...OK, ...parts })).toBe(isPart)
})

test('an order that the list does not have means nothing', () => {
  expect(CUSTOMER_FILTERS.sort('-plan')).toBe(null)
})

test('the line of a spark goes from left to right, and its highest day reaches the top', () => {
  expect(sparkOf([0, 5, 10])).toBe('M0 20L45 10L90 0')
  expect(sparkOf([0, 0, 0])).toBe('M0 20L45 20L90 20')
})
