/** The service in years to come: it takes every id and cursor that it answers. */
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { nextNumber } from '../../src/db/ledger/keys.ts'
import { shardFrom } from '../../src/domain/basics/shard.ts'
import { eventIdOf, eventKeyOf } from '../../src/domain/events/event.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createExpiryNotifier } from '../../src/jobs/expiry-notifier.ts'
import { createUsageCompaction } from '../../src/jobs/usage-compaction.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { startSender } from './sender-fixture.ts'

const log = { info() {}, warn() {}, error: (fields: object) => expect.fail(JSON.stringify(fields)) }
const ADMIN = '/api/sms/admin'
const OWN = '/api/sms/quota'

afterAll(() => {
  vi.useRealTimers()
})

describe.each([2029, 2040, 2100])('in December %i', async year => {
  const start = Date.UTC(year, 11, 1)
  // Metrics of the process turn with its time from its start on.
  vi.useFakeTimers({ toFake: ['Date'], now: start })
  const service = await startSender({ start, webhooks: { allowPrivate: true } }).catch(error => {
    // The files after this one run in the same process.
    vi.useRealTimers()
    throw error
  })
  const { call, clock, allow, ask, db, webhooks } = service
  const user = 9_007_199_254_740_991

  /** Database, service and machine agree. */
  const setTime = (at: number) => {
    clock.now = at
    vi.useFakeTimers({ toFake: ['Date'], now: at })
  }

  /** All pages of a list, one item each. */
  async function walk(path: string, token = service.adminToken, size = 'page_size=1') {
    const items = []
    for (let cursor = ''; ; ) {
      const { status, body } = await call('GET', `${path}${path.includes('?') ? '&' : '?'}${size}${cursor}`, { token })
      expect(status, `${path} ${JSON.stringify(body)}`).toBe(200)
      items.push(...body.items)
      if (body.next_cursor === null || items.length > 50) return items
      cursor = `&cursor=${body.next_cursor}`
    }
  }

  const get = async (path: string, token = service.adminToken) => {
    const { status, body } = await call('GET', `${ADMIN}${path}`, { token })
    expect(status, `${path} ${JSON.stringify(body)}`).toBe(200)
    return body
  }

  test('each id and cursor that it answers is accepted', async () => {
    setTime(start)
    const { body: webhook } = await call('POST', `${ADMIN}/webhooks`, { body: { url: 'http://127.0.0.1:9/' } })
    const quota = await allow({
      user_id: user,
      limit: 5,
      period: 'day',
      alert_at: [20],
      expires_at: new Date(start + 3 * DAY_MS).toISOString(),
    })
    await allow({ user_id: user, kind: 'cap', limit: 4, period: 'hour' })
    for (const [n, id] of ['a', 'b', 'c'].entries()) {
      setTime(start + n * DAY_MS)
      expect((await ask('reserve', { user_id: user, id, units: 2, ttl_seconds: 60 })).body.granted).toBe(true)
      expect((await ask('commit', { user_id: user, id })).status).toBe(200)
      expect((await ask('consume', { user_id: user, id: `${id}-denied`, units: 9 })).body.granted).toBe(false)
    }
    setTime(start + 3 * DAY_MS)
    expect(await createExpiryNotifier({ db, now: () => clock.now }).notifyOnce(clock.now)).toMatchObject({ emitted: 1 })

    const mine = await service.userToken(user)
    for (const list of [`${ADMIN}/denials`, `${ADMIN}/denials?user_id=${user}`]) {
      const denials = await walk(list)
      expect(denials.map(({ id }) => id)).toEqual(['c-denied', 'b-denied', 'a-denied'])
      for (const { denial_id } of denials) expect(await get(`/denials/${denial_id}`)).toMatchObject({ denial_id })
    }
    for (const { denial_id } of await walk(`${OWN}/denials`, mine)) {
      const { body } = await call('GET', `${OWN}/denials/${denial_id}`, { token: mine })
      expect(body).toMatchObject({ denial_id })
      expect(await get(`/search?q=${denial_id}`)).toBeDefined()
    }
    for (const list of [`${ADMIN}/quota/reservations`, `${ADMIN}/quota/reservations?user_id=${user}`]) {
      const reservations = await walk(list)
      expect(reservations.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
    }
    expect(await walk(`${OWN}/reservations`, mine)).toHaveLength(3)
    expect(await get(`/quota/reservations/${user}/b`)).toMatchObject({ id: 'b', units: 2 })
    const { body: repeated } = await ask('refund', { user_id: user, id: 'c' })
    expect(repeated).toMatchObject({ id: 'c', refunded: 2 })

    expect(await walk(`${ADMIN}/quota/list?user_id=${user}`)).toHaveLength(2)
    expect(await walk(`${ADMIN}/quota/list?sort=expires_at&status=expired`)).toHaveLength(1)
    expect(await walk(`${ADMIN}/quota/${quota}/history`)).toHaveLength(1)
    expect(await walk(`${ADMIN}/quota/${quota}/windows`)).toHaveLength(2)
    expect(await walk(`${ADMIN}/audit`)).toHaveLength(3)
    expect(await walk(`${ADMIN}/users`)).toHaveLength(1)
    expect(await walk(`${ADMIN}/audit?resource=webhook&thing_id=${webhook.id}`)).toHaveLength(1)

    await webhooks.dispatchOnce(clock.now)
    const deliveries = await walk(`${ADMIN}/webhooks/${webhook.id}/deliveries`, service.adminToken, 'limit=1')
    expect(deliveries.length).toBeGreaterThan(3)
    const path = `${ADMIN}/webhooks/${webhook.id}/deliveries/${deliveries[0].id}`
    expect((await call('GET', path)).body).toMatchObject({ id: deliveries[0].id })
    expect((await call('POST', `${path}/redeliver`)).status).toBe(200)
    const feed = []
    for (let after = ''; feed.length < deliveries.length; ) {
      const page = await get(`/events?limit=1${after}`)
      expect(page.items).toHaveLength(1)
      feed.push(...page.items)
      after = `&after=${page.next}`
    }

    // Usage that is pending, rolled up, and compacted.
    const from = new Date(start).toISOString()
    const report = `/quota/usage?user_id=${user}&interval=month&from=${from}&to=${new Date(start + 31 * DAY_MS).toISOString()}`
    const counts = { committed: { units: 6 }, refunded: { units: 2 }, denied: { units: 27 } }
    expect((await get(report)).items).toMatchObject([counts])
    const rollup = createUsageRollup({ db, log })
    while ((await rollup.rollUpOnce()).batches > 0);
    expect(await db.query({ text: sql`select 1 from usage_pending` })).toEqual([])
    expect((await get(report)).items).toMatchObject([counts])
    const compaction = createUsageCompaction({ db, log, now: () => clock.now, timeZone: 'UTC' })
    while ((await compaction.compactOnce(start + 500 * DAY_MS)).isBehind);
    expect((await get(report)).items).toMatchObject([counts])
    const lines = await call('GET', `${ADMIN}/users/${user}/data`)
    expect(lines.body.trim().split('\n').at(-1)).toMatch(/"record":"end"/)
  })
})

describe('the numbers of denials and pending usage', () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  const YEARS_34 = 2 ** 40 - 3_600_000

  test.each([
    ['before 2026, on a machine that lost its clock', 0],
    ['at the end of 34 years', Date.UTC(2026, 0, 1) + YEARS_34 - 1],
    ['as they begin again', Date.UTC(2026, 0, 1) + YEARS_34],
    ['in 9999', Date.UTC(9999, 11, 31)],
    ['in 2026 again', Date.UTC(2026, 5, 1)],
  ])('are exact, above zero and different %s', (_, at) => {
    vi.useFakeTimers({ toFake: ['Date'], now: at })
    const numbers = Array.from({ length: 1_000 }, nextNumber)
    expect(numbers.filter(number => !Number.isSafeInteger(number) || number <= 0)).toEqual([])
    expect(new Set(numbers).size).toBe(1_000)
  })
})

test('the last number that an event can have makes an id, and none beyond it does', () => {
  const key = { shard: shardFrom(63), number: Number.MAX_SAFE_INTEGER }
  expect(eventKeyOf(eventIdOf(key))).toEqual(key)
  expect(eventKeyOf('evt_63_9007199254740993')).toBeUndefined()
})
