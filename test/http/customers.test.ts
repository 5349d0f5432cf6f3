/** The list of customers: what it says of each, its orders, views and filters, and how it is paged. */
import { describe, expect, test } from 'vitest'
import type { Customer } from '../../src/contract/customers.ts'
import { listCustomers } from '../../src/db/users/customers.ts'
import { FIGURE_DAYS } from '../../src/domain/forecasts/customer-figures.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createCustomerFigures } from '../../src/jobs/customer-figures.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { pagesOf } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const CUSTOMERS = '/api/sms/admin/customers'
const service = await startSender({ showsNoNames: true })
const { allow, ask, call, clock, db } = service

const iso = (at: number) => new Date(at).toISOString()
const BEGIN = clock.now

async function renew(): Promise<void> {
  await createUsageRollup({ db, log: console }).rollUpOnce()
  clock.now += 10 * 60_000
  while ((await createCustomerFigures({ db, now: () => clock.now }).renewOnce(clock.now)).isBehind);
}

async function name(user: number, name: string): Promise<void> {
  const { status } = await call('PUT', `/api/sms/admin/users/${user}/profile`, { body: { name, ref: `c-${user}` } })
  expect(status).toBe(200)
}

const consume = (user_id: number, id: string, units: number) => ask('consume', { user_id, id, units })

/* 1 is blocked, 2 near its limit, 3 about to lose a grant, 4 well, 5 blocked on purpose, 6 asks without a quota, 7 and 8 are equal. */
const empty = await call('GET', CUSTOMERS)
await allow({ user_id: 1, limit: 100, alert_at: [80] })
const near = await allow({ user_id: 2, limit: 100, alert_at: [80] })
const ends = await allow({ user_id: 3, limit: 100, expires_at: iso(BEGIN + 5 * DAY_MS) })
const { body: plan } = await call('POST', '/api/sms/admin/plans', {
  body: { name: 'Basic', slots: [{ slot: 'monthly', limit: 1_000, period: 'month' }] },
})
await call('PUT', '/api/sms/admin/users/4/plan', { body: { plan_id: plan.id } })
await allow({ user_id: 5, limit: 100 })
const block = await allow({ user_id: 5, kind: 'cap', limit: 0 })
for (const user_id of [7, 8]) await allow({ user_id, limit: 100 })
await name(1, 'zeta')
await name(2, 'Alpha')
await name(4, 'beta')
await consume(1, 'a', 100)
await consume(1, 'b', 7)
await consume(2, 'a', 95)
await consume(4, 'a', 50)
await consume(5, 'a', 900)
await consume(6, 'a', 3)
await renew()

async function list(query = ''): Promise<Customer[]> {
  const { status, body } = await call('GET', `${CUSTOMERS}${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items
}
const idsOf = (customers: readonly Customer[]) => customers.map(({ user_id }) => user_id)
const ids = async (query: string) => idsOf(await list(query))

test('says that it is not complete before the first walk, and until when it is after it', async () => {
  expect(empty.body).toEqual({
    items: [],
    as_of: iso(BEGIN),
    complete_until: null,
    page_size: 20,
    next_cursor: null,
  })
  const { body } = await call('GET', CUSTOMERS)
  expect(body).toMatchObject({ as_of: iso(clock.now), complete_until: iso(clock.now - 5 * 60_000), page_size: 20 })
})

test('tells what a user can send, why not more, and what usage comes to', async () => {
  const [customer] = await list('?search=c-2')
  expect(customer).toEqual({
    user_id: 2,
    user_ref: 'c-2',
    user_name: 'Alpha',
    ...{
      sendable: 5,
      state: 'near_limit',
      reason: null,
      quota_id: near,
      until: null,
      countries: null,
      message_types: null,
    },
    used_percent: 95,
    daily: [...new Array(FIGURE_DAYS - 1).fill(0), 95],
    ...{ sent_units: 95, denied_units: 0, denied_percent: 0, growth_percent: null, unmet_units: 0 },
    last_message_at: iso(BEGIN),
    figures_at: iso(clock.now),
  })
  const blocked = (await list()).find(({ user_id }) => user_id === 1)
  expect(blocked).toMatchObject({ state: 'blocked', reason: 'quota_exhausted', sendable: 0, used_percent: 100 })
  expect(blocked).toMatchObject({ denied_units: 7, denied_percent: 6.5, unmet_units: 7 })
})

test.each([
  ['', [1, 2, 4, 8, 7, 6, 5, 3]],
  ['?order=asc', [3, 5, 6, 7, 8, 4, 2, 1]],
  ['?sort=name', [2, 4, 1, 3, 5, 6, 7, 8]],
  ['?sort=name&order=desc', [8, 7, 6, 5, 3, 1, 4, 2]],
  ['?sort=used&least=5', [1, 2, 4]],
  ['?sort=used&least=5&most=95', [2, 4]],
  ['?sort=denied&least=1', [6, 5, 1]],
  ['?sort=growth', [4, 2, 1, 8, 7, 6, 5, 3]],
  ['?sort=sent&least=95&most=99', [2]],
  ['?sort=last_message&page_size=3', [6, 5, 4]],
  ['?sort=unmet&least=1', [5, 1, 6]],
  ['?view=at_risk', [1, 6, 2, 3]],
  ['?view=at_risk&state=ending', [3]],
  ['?view=at_risk&sort=name', [2, 1, 3, 6]],
  ['?view=unmet', [1, 6]],
  ['?state=blocked_on_purpose', [5]],
  [`?plan_id=${plan.id}`, [4]],
  ['?search=c-', [1, 2, 4]],
  ['?search=AL', [2]],
  ['?search=6', [6]],
  ['?search=c-&view=at_risk', [1, 2]],
  ['?search=99', []],
])('lists for "%s"', async (query, expected) => {
  expect(await ids(query)).toEqual(expected)
})

test('says which of a search are more than it shows', async () => {
  const { body } = await call('GET', `${CUSTOMERS}?search=c-&page_size=2&sort=sent`)
  expect([idsOf(body.items), body.has_more, body.next_cursor]).toEqual([[1, 2], true, null])
})

test.each([1, 2, 20])('has each user once in pages of %i, equal ones included', async size => {
  for (const query of ['sort=sent', 'sort=sent&order=asc', 'sort=name', 'sort=last_message', 'view=at_risk']) {
    const expected = await ids(`?${query}`)
    const pages = await pagesOf(service, `${CUSTOMERS}?${query}&page_size=${size}`)
    expect(pages.flatMap(({ items }) => idsOf(items))).toEqual(expected)
  }
})

test('goes on behind a bounded number of users that a filter does not select', async () => {
  const order = { by: 'sent', descending: true } as const
  const first = await listCustomers(db, { state: 'ending' }, order, { size: 20, now: clock.now, maxScanned: 3 })
  expect([first.items, first.next?.user_id]).toEqual([[], 4])
  const found = []
  for (let after = first.next; after !== null; ) {
    const page = { after, size: 20, now: clock.now, maxScanned: 3 }
    const { items, next } = await listCustomers(db, { state: 'ending' }, order, page)
    found.push(...items.map(({ user_id }) => user_id))
    after = next
  }
  expect(found).toEqual([3])
})

const cursorOf = (value: number | string, sort: string) =>
  Buffer.from(JSON.stringify({ filters: { sort }, after: { value, user_id: 1 } })).toString('base64url')

test.each([
  ['sort=plan', 'sort must be'],
  ['view=mine', 'view must be'],
  ['sort=name&least=1', 'least is accepted only in the order of used'],
  ['view=at_risk&most=1', 'most is accepted only in the order of used'],
  [`cursor=${cursorOf('x', 'sent')}`, 'cursor must be the next_cursor'],
  [`cursor=${cursorOf(3_000_000_000, 'used')}`, 'cursor must be the next_cursor'],
  [`cursor=${cursorOf(5, 'name')}`, 'cursor must be the next_cursor'],
  [`cursor=${cursorOf(5, 'sent')}&sort=used`, 'sort is fixed by the cursor to sent'],
  [`cursor=${cursorOf(5, 'sent')}&search=a`, 'search is fixed by the cursor to no value'],
])('refuses "%s"', async (query, detail) => {
  const { status, body } = await call('GET', `${CUSTOMERS}?${query}`)
  expect([status, body.detail]).toEqual([400, expect.stringContaining(detail)])
})

describe('what must be true now is read with the page', () => {
  test('a user who got units is not at risk any more, and can send them', async () => {
    const user = 30
    const quota = await allow({ user_id: user, limit: 100, alert_at: [] })
    await consume(user, 'a', 100)
    await renew()
    expect(await ids('?view=at_risk')).toContain(user)
    await call('POST', `/api/sms/admin/quota/${quota}/adjust`, { body: { delta: 50, reason: 'more' } })
    expect(await ids('?view=at_risk')).not.toContain(user)
    expect(await ids('?state=blocked')).not.toContain(user)
    const [customer] = await list('?search=30')
    expect(customer).toMatchObject({ state: 'ok', sendable: 50, used_percent: 66.6, sent_units: 100 })
  })

  test('a search finds a user without figures yet', async () => {
    await allow({ user_id: 4_000, limit: 9 })
    const [customer] = await list('?search=4000')
    const nothing = { sent_units: 0, denied_percent: null, last_message_at: null, figures_at: null }
    expect(customer).toMatchObject({ user_id: 4_000, state: 'ok', sendable: 9, ...nothing })
    expect(await ids('')).not.toContain(4_000)
  })
})

test('an export has all pages of the list', async () => {
  const { body } = await call('GET', '/api/sms/admin/export/customers?view=at_risk')
  const lines = String(body).trimEnd().split('\n')
  expect(lines.map(line => JSON.parse(line))).toEqual(await list('?view=at_risk'))
  expect([ends > 0, block > 0]).toEqual([true, true])
})
