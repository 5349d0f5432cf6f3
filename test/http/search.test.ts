import { describe, expect, test } from 'vitest'
import { idRangesOf } from '../../src/db/users/search.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { START } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, allow, ask, db } = service
const SEARCH = '/api/sms/admin/search'

const find = async (q: string) => {
  const { status, body } = await call('GET', `${SEARCH}?q=${encodeURIComponent(q)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const idsOf = (items: { id: unknown }[]) => items.map(({ id }) => id)

describe('ids that begin with digits', () => {
  test.each([
    ['12', [12, 120, 1200], [12, 129, 1299]],
    ['0', [0], [0]],
    ['9007199254740991', [9_007_199_254_740_991], [9_007_199_254_740_991]],
    ['900719925474099', [900_719_925_474_099, 9_007_199_254_740_990], [900_719_925_474_099, 9_007_199_254_740_991]],
  ])('%s', (text, lows, highs) => {
    const ranges = idRangesOf(text)
    expect(ranges.slice(0, lows.length).map(({ low }) => low)).toEqual(lows)
    expect(ranges.slice(0, highs.length).map(({ high }) => high)).toEqual(highs)
  })

  test.each(['', '01', '+1', '1.0', '1e3', '9007199254740992', 'x'])('none begins with "%s"', text => {
    expect(idRangesOf(text)).toEqual([])
  })
})

describe('users and quotas', async () => {
  const hits = [4711, 47110, 471199, 4710, 5].map(async user_id =>
    allow({ user_id, limit: 10, name: `Plan ${user_id}` }),
  )
  const quotas = await Promise.all(hits)
  const gone = await allow({ user_id: 5, limit: 10, name: 'plan of before', external_ref: 'contract-9' })
  await call('DELETE', `/api/sms/admin/quota/${gone}`)
  const odd = await allow({ user_id: 6, limit: 10, name: '100%_\\ "sale"', external_ref: 'CONTRACT-1' })

  test('a user is found by the beginning of the id', async () => {
    const { users, has_more } = await find('4711')
    expect(users).toEqual([4711, 47110, 471199].map(user_id => ({ user_id, quotas: 1, last_activity_at: null })))
    expect(has_more).toMatchObject({ users: false })
    expect((await find('12')).users).toEqual([])
    // A single id begins so.
    expect((await find('9007199254740991')).users).toEqual([])
  })

  test('a user who was denied and never had a quota is found once usage is rolled up', async () => {
    await ask('consume', { user_id: 88_001, id: 'm', units: 1 })
    await createUsageRollup({ db, log: console }).rollUpOnce()
    expect((await find('88001')).users).toEqual([
      { user_id: 88_001, quotas: 0, last_activity_at: new Date(START).toISOString() },
    ])
  })

  test('a quota is found by its id, its reference and the beginning of its name, in either case', async () => {
    const [first] = quotas
    expect(idsOf((await find(String(first))).quotas)[0]).toBe(first)
    expect((await find('pLaN 4711')).quotas[0]).toEqual({
      id: first,
      user_id: 4711,
      kind: 'grant',
      name: 'Plan 4711',
      external_ref: null,
      status: 'active',
    })
    expect(idsOf((await find('CONTRACT-')).quotas)).toEqual([odd])
    expect(idsOf((await find('lan 4711')).quotas)).toEqual([])
  })

  test('a deleted quota is found by its id, and marked; by name and reference the list finds it', async () => {
    expect((await find(String(gone))).quotas[0]).toMatchObject({ id: gone, status: 'deleted' })
    for (const q of ['contract-9', 'plan of']) expect((await find(q)).quotas).toEqual([])
    for (const filter of ['external_ref=contract-9', 'name=PLAN%20of']) {
      const { body } = await call('GET', `/api/sms/admin/quota/list?status=deleted&${filter}`)
      expect(idsOf(body.items), filter).toEqual([gone])
    }
  })

  test('signs that patterns and SQL use stand for themselves', async () => {
    expect(idsOf((await find('100%_\\ "')).quotas)).toEqual([odd])
    for (const q of ['%', '_', "'", '1000%', '\\', "' or 1=1", '\u{10FFFF}']) {
      const { users, quotas, reservations, webhooks } = await find(q)
      expect([...users, ...quotas, ...reservations, ...webhooks], q).toEqual([])
    }
  })

  test('spaces around the text are ignored', async () => {
    expect(idsOf((await find('  CONTRACT-1 ')).quotas)).toEqual([odd])
  })

  test('at most 20 of a kind are shown, exact matches first', async () => {
    for (let n = 0; n < 22; n++) await allow({ user_id: 700 + n, limit: 1, name: `Bulk ${n}` })
    const last = await allow({ user_id: 730, limit: 1, name: 'Bulk' })
    const { quotas, has_more } = await find('bulk')
    expect(quotas).toHaveLength(20)
    expect(quotas[0].id).toBe(last)
    expect(has_more).toEqual({ users: false, quotas: true, reservations: false, webhooks: false, plans: false })
    const { users, has_more: more } = await find('7')
    expect(users).toHaveLength(20)
    expect(more.users).toBe(true)
  })
})

test('reservations of all users are found by the beginning of the id', async () => {
  for (const user_id of [31, 32]) {
    await allow({ user_id, limit: 10 })
    await ask('consume', { user_id, id: 'order-77', units: 2 })
  }
  await ask('reserve', { user_id: 31, id: 'order-770', units: 1 })
  await ask('reserve', { user_id: 31, id: 'Order-77', units: 1 })
  const exact = { id: 'order-77', state: 'committed', units: 2, created_at: new Date(START).toISOString() }
  const { reservations } = await find('order-77')
  expect(reservations).toHaveLength(3)
  expect(reservations).toEqual(
    expect.arrayContaining([
      { ...exact, user_id: 31 },
      { ...exact, user_id: 32 },
    ]),
  )
  expect(reservations[2]).toMatchObject({ id: 'order-770', state: 'reserved', user_id: 31 })
  expect((await find('rder-77')).reservations).toEqual([])
})

test('webhooks are found by their id and by any part of address and description', async () => {
  const body = { url: 'https://hooks.example/sms?v=1', description: 'Billing, nightly' }
  const { body: webhook } = await call('POST', '/api/sms/admin/webhooks', { body })
  const hit = { id: webhook.id, kind: 'webhook', addresses: null, ...body, enabled: true }
  for (const q of ['HOOKS.example', 'nightly', String(webhook.id)]) expect((await find(q)).webhooks, q).toEqual([hit])
  expect(JSON.stringify(await find('hooks'))).not.toContain('secret')
})

describe('refused', () => {
  test.each([
    ['', 'q is required'],
    ['q=', 'q must be text'],
    ['q=%20', 'q must be more than spaces'],
    [`q=${'x'.repeat(129)}`, 'q must be text'],
    ['q=a%00b', 'q must be text'],
    ['q=a&limit=5', 'limit is unknown'],
  ])('"%s"', async (query, detail) => {
    const { status, body } = await call('GET', `${SEARCH}?${query}`)
    expect(status).toBe(400)
    expect(body.detail).toContain(detail)
  })
})

test('plans are found by the beginning of their id or name, archived ones are not', async () => {
  const create = async (name: string) =>
    (await call('POST', '/api/sms/admin/plans', { body: { name, slots: [{ slot: 'a', limit: 1 }] } })).body.id
  const [basic, gold] = [await create('Basic 2027'), await create('Gold')]
  const archived = await create('Basic 2026')
  await call('DELETE', `/api/sms/admin/plans/${archived}`)
  const hit = { id: basic, name: 'Basic 2027', version: 1, is_default: false }
  expect(await find('bAsic')).toMatchObject({ plans: [hit], has_more: { plans: false } })
  expect(idsOf((await find(String(gold))).plans)).toContain(gold)
  expect((await find('asic')).plans).toEqual([])
})
