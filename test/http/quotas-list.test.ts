import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { findQuota } from '../../src/db/quotas/quotas.ts'
import { isLive, roll, statusOf } from '../../src/domain/quotas/quota.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { runs } from '../support/runs.ts'
import { pagesOf, START, startService } from '../support/service.ts'

const at = (offset: number) => new Date(START + offset).toISOString()

const service = await startService()
const { call, clock } = service

async function create(body: object): Promise<number> {
  const answer = await call('POST', '/api/sms/admin/quota', { body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}

const forged = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')

/** The ids on each page. */
const walk = async (query: string, token?: string, path = '/api/sms/admin/quota/list'): Promise<number[][]> =>
  (await pagesOf(service, `${path}?${query}`, token)).map(({ items }) => items.map(({ id }: { id: number }) => id))

describe('one user', async () => {
  const user = 7
  const made: Record<string, number> = {}
  // In the order of their ids.
  made.active = await create({
    user_id: user,
    limit: 100,
    expires_at: at(30 * DAY_MS),
    name: 'march',
    external_ref: 'R-2',
    countries: ['DE', 'AT'],
    opening_used: 50,
  })
  made.suspended = await create({ user_id: user, limit: 300, enabled: false, name: 'Bonus', external_ref: 'R-10' })
  made.scheduled = await create({ user_id: user, limit: 50, starts_at: at(DAY_MS), expires_at: at(2 * DAY_MS) })
  made.exhausted = await create({ user_id: user, limit: 0, name: 'MARCH extra', message_types: ['otp'] })
  made.expired = await create({ user_id: user, limit: 10, starts_at: at(-2 * DAY_MS), expires_at: at(-DAY_MS) })
  made.cap = await create({ user_id: user, limit: 40, kind: 'cap', period: 'day', name: 'bonus', opening_used: 30 })
  made.unlimited = await create({ user_id: user, limit: null })
  made.deleted = await create({ user_id: user, limit: 1 })
  await call('DELETE', `/api/sms/admin/quota/${made.deleted}`)
  await create({ user_id: 8, limit: 1 })
  const name = (id: number) => Object.entries(made).find(([, value]) => value === id)?.[0]
  const names = (ids: number[]) => ids.map(name)
  const ALL = ['active', 'suspended', 'scheduled', 'exhausted', 'expired', 'cap', 'unlimited']

  test.each([
    ['', ALL.toReversed()],
    ['sort=id', ALL],
    ['sort=expires_at', ['expired', 'scheduled', 'active', 'suspended', 'exhausted', 'cap', 'unlimited']],
    ['sort=-expires_at', ['unlimited', 'cap', 'exhausted', 'suspended', 'active', 'scheduled', 'expired']],
    ['sort=remaining', ['exhausted', 'expired', 'cap', 'active', 'scheduled', 'suspended', 'unlimited']],
    ['sort=-remaining', ['unlimited', 'suspended', 'scheduled', 'active', 'cap', 'expired', 'exhausted']],
    ['sort=created_at', ALL],
    ['sort=-created_at', ALL.toReversed()],
    ['sort=name', ['suspended', 'cap', 'active', 'exhausted', 'scheduled', 'expired', 'unlimited']],
    ['sort=-name', ['unlimited', 'expired', 'scheduled', 'exhausted', 'active', 'cap', 'suspended']],
    ['sort=external_ref', ['suspended', 'active', 'scheduled', 'exhausted', 'expired', 'cap', 'unlimited']],
    ['sort=-external_ref', ['unlimited', 'cap', 'expired', 'exhausted', 'scheduled', 'active', 'suspended']],
    ['sort=used_percent', ['suspended', 'scheduled', 'exhausted', 'expired', 'unlimited', 'active', 'cap']],
    ['sort=-used_percent', ['cap', 'active', 'unlimited', 'expired', 'exhausted', 'scheduled', 'suspended']],
    ['sort=-used_percent&kind=grant&status=active', ['active', 'unlimited']],
    ['name=BON', ['cap', 'suspended']],
    ['name=march&sort=name', ['active', 'exhausted']],
    ['name=arch', []],
    ['external_ref=R-2', ['active']],
    ['external_ref=R-', []],
    ['country=AT', ['active']],
    ['country=CH', []],
    ['message_type=otp', ['exhausted']],
    ['message_type=otp&country=AT', []],
    [`expires_before=${at(DAY_MS)}`, ['expired']],
    [`expires_after=${at(2 * DAY_MS)}&sort=expires_at`, ['scheduled', 'active']],
    [`expires_after=${at(2 * DAY_MS)}&expires_before=${at(30 * DAY_MS)}`, ['scheduled']],
    [`expires_after=${at(-9 * DAY_MS)}&status=active`, ['active']],
    ['kind=cap', ['cap']],
    ['status=active', ['unlimited', 'cap', 'active']],
    ['status=suspended', ['suspended']],
    ['status=scheduled', ['scheduled']],
    ['status=exhausted', ['exhausted']],
    ['status=expired', ['expired']],
    ['status=active&kind=grant&sort=id', ['active', 'unlimited']],
  ])('"%s" selects and orders', async (query, expected) => {
    const mine = await call('GET', `/api/sms/quota/list?${query}`, { token: await service.userToken(user) })
    expect(names(mine.body.items.map((item: { id: number }) => item.id))).toEqual(expected)
    expect(mine.body).toMatchObject({
      total: expected.length,
      page: 1,
      page_size: 20,
      total_pages: Math.ceil(expected.length / 20),
      next_cursor: null,
    })
    const asAdmin = await call('GET', `/api/sms/admin/quota/list?user_id=${user}&${query}`)
    // Users do not read who made and changed their quotas.
    const items = asAdmin.body.items.map((item: object) => ({ ...item, created_by: null, updated_by: null }))
    expect({ ...asAdmin.body, items }).toEqual(mine.body)

    // Pages of any size, by number or by cursor, give the same list.
    const pages = await walk(`user_id=${user}&page_size=2&${query}`)
    expect(names(pages.flat())).toEqual(expected)
    const numbered = []
    for (let page = 1; page <= Math.ceil(expected.length / 2) + 1; page++) {
      const { body } = await call('GET', `/api/sms/admin/quota/list?user_id=${user}&page_size=2&page=${page}&${query}`)
      expect(body).toMatchObject({ total: expected.length, page, total_pages: Math.ceil(expected.length / 2) })
      numbered.push(...body.items.map((item: { id: number }) => item.id))
    }
    expect(names(numbered)).toEqual(expected)
  })

  test('deleted quotas are listed only for administrators, and only with status=deleted', async () => {
    const { body } = await call('GET', `/api/sms/admin/quota/list?user_id=${user}&status=deleted`)
    expect(names(body.items.map((item: { id: number }) => item.id))).toEqual(['deleted'])
    const asUser = await call('GET', '/api/sms/quota/list?status=deleted', { token: await service.userToken(user) })
    expect(asUser.status).toBe(400)
  })

  test('a user sees only their own quotas', async () => {
    const other = await call('GET', '/api/sms/quota/list', { token: await service.userToken(8) })
    expect(other.body.items.map((item: { user_id: number }) => item.user_id)).toEqual([8])
    const none = await call('GET', '/api/sms/quota/list', { token: await service.userToken(999) })
    expect(none.body).toMatchObject({ items: [], total: 0, total_pages: 0, next_cursor: null })
    expect((await call('GET', '/api/sms/quota/list?user_id=8', { token: await service.userToken(7) })).status).toBe(400)
  })

  test('a cursor fixes sort and filters, and is refused if forged or made for another viewer', async () => {
    const list = (query: string, token = service.adminToken) =>
      call('GET', `/api/sms/admin/quota/list?${query}`, { token })
    const { body } = await list(`user_id=${user}&kind=grant&sort=id&page_size=1`)
    const cursor = body.next_cursor
    expect((await list(`cursor=${cursor}&user_id=${user}&kind=grant&sort=id&page_size=1`)).status).toBe(200)
    expect((await list(`cursor=${cursor}`)).body).not.toHaveProperty('total')
    for (const [query, path] of [
      [`cursor=${cursor}&page=2`, 'page'],
      [`cursor=${cursor}&kind=cap`, 'kind'],
      [`cursor=${cursor}&sort=-id`, 'sort'],
      [`cursor=${cursor}&user_id=8`, 'user_id'],
      [`cursor=${cursor}&status=active`, 'status'],
      ['cursor=nonsense', 'cursor'],
      [`cursor=${Buffer.from('{"sort":"id","value":1,"id":"x"}').toString('base64url')}`, 'cursor'],
      ['cursor=a.b', 'cursor'],
      [`cursor=${forged({ sort: 'name', value: 5, id: 64 })}`, 'cursor'],
      [`cursor=${forged({ sort: 'name', value: 'a\0', id: 64 })}`, 'cursor'],
      [`cursor=${forged({ sort: 'expires_at', value: 'x', id: 64 })}`, 'cursor'],
      [`cursor=${forged({ sort: 'expires_at', value: Number.MAX_SAFE_INTEGER, id: 64 })}`, 'cursor'],
      [`cursor=${forged({ sort: 'remaining', value: 5, id: 64 })}`, 'sort'],
      [`cursor=${cursor}&name=x`, 'name'],
      [`cursor=${cursor}&country=DE`, 'country'],
      [`cursor=${forged({ sort: 'id', value: 64, id: 64, country: 'XX' })}`, 'cursor'],
      [`cursor=${cursor}&expires_before=${at(0)}`, 'expires_before'],
    ] as const) {
      expect(await list(query), query).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    }
    // A user cannot use an administrator's cursor, which names a user.
    const asUser = await call('GET', `/api/sms/quota/list?cursor=${cursor}`, { token: await service.userToken(8) })
    expect(asUser.status).toBe(400)
  })
})

describe('all users', () => {
  test('the scope selects on every page', async () => {
    for (let n = 0; n < 5; n++)
      await create({ user_id: 5_100 + n, limit: 1, countries: n % 2 === 0 ? ['IS'] : ['IS', 'NO'] })
    const ids = (await walk('country=NO&page_size=1&sort=id')).flat()
    expect(ids).toHaveLength(2)
    expect((await walk('country=IS&page_size=2')).map(page => page.length)).toEqual([2, 2, 1])
  })

  test('totals stay exact as quotas are created and deleted', async () => {
    const total = async (query: string) => (await call('GET', `/api/sms/admin/quota/list?${query}`)).body.total
    const queries = ['', 'kind=cap', 'kind=grant', 'status=deleted', 'status=deleted&kind=cap', 'status=active']
    const before = await Promise.all(queries.map(total))
    const grant = await create({ user_id: 20, limit: 1 })
    const cap = await create({ user_id: 21, limit: 1, kind: 'cap' })
    await create({ user_id: 21, limit: 1, kind: 'cap' })
    await call('DELETE', `/api/sms/admin/quota/${cap}`)
    await call('PUT', `/api/sms/admin/quota/${grant}`, { body: { limit: 2 } })
    const after = await Promise.all(queries.map(total))
    expect(after.map((count, index) => count - before[index])).toEqual([2, 1, 1, 1, 1, 2])
  })

  test.each(['remaining', '-remaining', 'used_percent', '-used_percent'])(
    'sorting by %s needs a single user',
    async sort => {
      const answer = await call('GET', `/api/sms/admin/quota/list?sort=${sort}`)
      const message = expect.stringContaining('add user_id')
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: 'sort', message }] } })
    },
  )

  test.each(['name', '-external_ref', 'created_at'])('sorting deleted quotas by %s needs a single user', async sort => {
    const query = `status=deleted&sort=${sort}`
    const { status, body } = await call('GET', `/api/sms/admin/quota/list?${query}`)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    const message = `of the deleted quotas of all users must be one of id, -id, expires_at, -expires_at; add user_id for ${sort}`
    expect(body.errors).toEqual([{ path: 'sort', message }])
    const value = sort === 'created_at' ? 0 : 'x'
    const cursor = forged({ sort, value, id: 64, status: 'deleted' })
    expect(await call('GET', `/api/sms/admin/quota/list?cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'sort' }] },
    })
    const ofUser = await call('GET', `/api/sms/admin/quota/list?user_id=20&${query}`)
    expect(ofUser.status).toBe(200)
  })

  test.each([
    ['sort=limit', 'sort'],
    ['name=', 'name'],
    [`name=${'x'.repeat(121)}`, 'name'],
    ['name=%00', 'name'],
    ['external_ref=', 'external_ref'],
    ['country=XX', 'country'],
    ['message_type=OTP', 'message_type'],
    ['expires_before=tomorrow', 'expires_before'],
    ['expires_after=2026-02-30T00:00:00Z', 'expires_after'],
  ])('%s is refused', async (query, path) => {
    const answer = await call('GET', `/api/sms/admin/quota/list?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path }] } })
  })

  test('a cursor carries any name', async () => {
    const names = ['\u{10FFFF}'.repeat(60), '\\"\u0001'.repeat(40), 'ß'.repeat(120), "%_'", ' ']
    for (const name of names)
      await create({ user_id: 22, limit: 1, name, external_ref: name.replaceAll('\u0001', '"').trim() || '_' })
    for (const sort of ['name', '-name', 'external_ref', '-external_ref']) {
      const pages = await walk(`sort=${sort}&page_size=1`)
      expect(new Set(pages.flat()).size).toBe(pages.flat().length)
      expect(pages.flat().length).toBe((await call('GET', '/api/sms/admin/quota/list')).body.total)
    }
    for (const name of names) {
      const { body } = await call('GET', `/api/sms/admin/quota/list?name=${encodeURIComponent(name)}`)
      expect(body.items.map((item: { name: string }) => item.name)).toEqual([name])
    }
  })

  test.each(['id', '-id', 'expires_at', '-expires_at', 'name', '-name', 'created_at', '-external_ref'])(
    'the pages sorted by %s list every quota once',
    async sort => {
      const pages = await walk(`sort=${sort}&page_size=3`)
      const { body } = await call('GET', `/api/sms/admin/quota/list?sort=${sort}&page_size=200`)
      expect(pages.flat()).toEqual(body.items.map((item: { id: number }) => item.id))
      expect(body.total).toBe(body.items.length)
    },
  )

  test('any page past the end is empty', async () => {
    for (const page of [50, Number.MAX_SAFE_INTEGER]) {
      const { body } = await call('GET', `/api/sms/admin/quota/list?page=${page}&page_size=200`)
      expect(body).toMatchObject({ items: [], page, next_cursor: null })
      expect(body.total).toBeGreaterThan(0)
    }
  })
})

test('the status filter agrees with the shown status, and that with decisions, for any quota at any time', async () => {
  const user = 30
  const count = fc.integer({ min: 0, max: 3 })
  const quota = fc.record({
    limit: fc.option(count, { freq: 5 }),
    period: fc.constantFrom('hour', 'day', 'month', null),
    rollover_limit: count,
    overage_limit: fc.integer({ min: 0, max: 1 }),
    enabled: fc.boolean(),
    starts_at: fc.constantFrom(undefined, undefined, -100, -40, 1).map(days => days && at(days * DAY_MS)),
    expires_at: fc.constantFrom(null, null, 2, 60).map(days => (days === null ? null : at(days * DAY_MS))),
    counters: fc.record({ used: count, reserved: count, rolled_over: count }),
    // Before its creation: another process's clock was ahead then.
    later: fc.constantFrom(-3_600_000, -3_600_000, 0, DAY_MS, 3 * DAY_MS, 45 * DAY_MS, 100 * DAY_MS),
  })
  await fc.assert(
    fc.asyncProperty(quota, async ({ counters, later, ...drawn }) => {
      clock.now = START
      const isLimitedGrant = drawn.limit !== null
      const body = {
        ...drawn,
        user_id: user,
        rollover_limit: isLimitedGrant && drawn.period !== null ? drawn.rollover_limit : 0,
        overage_limit: isLimitedGrant ? drawn.overage_limit : 0,
      }
      const id = await create(body)
      await service.db.query({
        text: sql`update quota set used = $2, reserved = $3, rolled_over = $4 where id = $1`,
        values: [id, counters.used, counters.reserved, counters.rolled_over],
      })
      clock.now = START + later
      const stored = await findQuota(service.db, id)
      if (stored === undefined) throw new Error('the quota is gone')
      const rolled = roll(stored, clock.now).quota
      const expected = statusOf(rolled, clock.now)
      expect(['active', 'exhausted'].includes(expected)).toBe(isLive(rolled, clock.now))
      const { body: found } = await call('GET', `/api/sms/admin/quota/list?user_id=${user}&status=${expected}`)
      expect(found.items).toMatchObject([{ id, status: expected }])
      await call('DELETE', `/api/sms/admin/quota/${id}`)
    }),
    { numRuns: runs(80) },
  )
})
