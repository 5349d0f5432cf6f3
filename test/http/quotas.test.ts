import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { call, clock } = service
let nextUser = 100

/** A user of its own for each test. */
function someone(): number {
  nextUser += 1
  return nextUser
}

async function create(body: object, status = 201) {
  const answer = await call('POST', '/api/sms/admin/quota', { body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  return answer.body
}

describe('create', () => {
  test('returns the whole quota with its defaults, Location and ETag', async () => {
    const user = someone()
    const answer = await call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 1000 } })
    expect(answer.status).toBe(201)
    expect(answer.headers.location).toBe(`/api/sms/admin/quota/${answer.body.id}`)
    expect(answer.headers.etag).toBe('"1"')
    expect(answer.body).toEqual({
      id: expect.any(Number),
      user_id: user,
      kind: 'grant',
      name: null,
      limit: 1000,
      period: null,
      anchor: null,
      time_zone: 'UTC',
      per: null,
      counts: 'units',
      rollover_limit: 0,
      overage_limit: 0,
      priority: 100,
      starts_at: '2026-03-15T12:00:00.000Z',
      expires_at: null,
      countries: null,
      message_types: null,
      alert_at: [80, 100],
      enabled: true,
      external_ref: null,
      metadata: {},
      used: 0,
      reserved: 0,
      rolled_over: 0,
      remaining: 1000,
      overage: 0,
      window_start: '2026-03-15T12:00:00.000Z',
      window_end: null,
      status: 'active',
      plan: null,
      version: 1,
      created_at: '2026-03-15T12:00:00.000Z',
      created_by: '1',
      updated_at: '2026-03-15T12:00:00.000Z',
      updated_by: '1',
    })
  })

  test('keeps all given fields, in canonical form', async () => {
    const asked = {
      user_id: someone(),
      kind: 'grant',
      name: 'Paket für März 🎉',
      limit: 5000,
      period: 'month',
      anchor: '10',
      time_zone: 'europe/berlin',
      rollover_limit: 200,
      overage_limit: 50,
      priority: 0,
      starts_at: '2026-01-10T00:00:00+01:00',
      expires_at: '2027-01-01T00:00:00Z',
      countries: ['DE', 'AT'],
      message_types: ['otp', 'marketing'],
      alert_at: [100, 50],
      enabled: false,
      external_ref: 'K-1042',
      metadata: { contract: 'K-1042', 'sold.by': 'web' },
    }
    const created = await create(asked)
    const expected = {
      ...asked,
      time_zone: 'Europe/Berlin',
      starts_at: '2026-01-09T23:00:00.000Z',
      expires_at: '2027-01-01T00:00:00.000Z',
      countries: ['AT', 'DE'],
      message_types: ['marketing', 'otp'],
      alert_at: [50, 100],
      // A start in the past opens the current window, without rollover.
      window_start: '2026-03-09T23:00:00.000Z',
      window_end: '2026-04-09T22:00:00.000Z',
      rolled_over: 0,
      status: 'suspended',
    }
    expect(created).toMatchObject(expected)
    expect((await call('GET', `/api/sms/admin/quota/${created.id}`)).body).toEqual(created)
  })

  test('takes times from 1970 to the end of 9999', async () => {
    const user = someone()
    const [first, last] = ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']
    const whole = { starts_at: first, expires_at: last }
    expect(await create({ user_id: user, limit: 1, ...whole })).toMatchObject({ ...whole, window_end: last })
    // The window ends with the year 9999, whose end has no RFC 3339 form.
    const late = await create({ user_id: user, limit: 1, starts_at: last, period: 'year' })
    expect(late).toMatchObject({ starts_at: last, window_start: last, window_end: last, status: 'scheduled' })
    expect((await call('GET', `/api/sms/admin/quota/list?user_id=${user}&sort=expires_at`)).body.items).toEqual([
      expect.objectContaining(whole),
      late,
    ])
    const renamed = await call('PUT', `/api/sms/admin/quota/${late.id}`, { body: { name: 'Late' } })
    expect(renamed).toMatchObject({ status: 200, body: { window_end: last } })
  })

  test('external_ref is unique among the undeleted quotas of one user', async () => {
    const user = someone()
    const first = await create({ user_id: user, limit: 1, external_ref: 'A' })
    const second = await create({ user_id: user, limit: 1, external_ref: 'A' }, 409)
    expect(second).toMatchObject({ code: 'conflict', existing_id: first.id })
    await create({ user_id: someone(), limit: 1, external_ref: 'A' })
    await call('DELETE', `/api/sms/admin/quota/${first.id}`)
    await create({ user_id: user, limit: 1, external_ref: 'A' })
  })

  test('opening_used is in the ledger like all other units', async () => {
    const user = someone()
    const grant = await create({ user_id: user, limit: 100, opening_used: 30 })
    expect(grant).toMatchObject({ used: 30, remaining: 70, reserved: 0 })
    const cap = await create({ user_id: user, limit: 10, kind: 'cap', period: 'day', opening_used: 12 })
    expect(cap).toMatchObject({ used: 12, remaining: 0, overage: 2, status: 'exhausted' })
    const ledger = await service.db.query({
      text: sql`select id, units, committed, draws from reservation where user_id = $1 order by id`,
      values: [user],
    })
    const starts = [grant, cap].map(quota => Date.parse(quota.window_start))
    expect(ledger).toEqual([
      { id: `_opening.${grant.id}`, units: 30, committed: 30, draws: [grant.id, 0, 0, starts[0], 0, 30] },
      { id: `_opening.${cap.id}`, units: 12, committed: 12, draws: [cap.id, 1, 0, starts[1], 0, 12] },
    ])
    const faulty = await call('PUT', `/api/sms/admin/quota/${grant.id}`, { body: { opening_used: 5 } })
    expect(faulty).toMatchObject({ status: 400, body: { errors: [{ path: '/opening_used' }] } })
  })

  test('a user has at most 200 undeleted, unexpired quotas; expired and deleted ones do not count', async () => {
    const user = someone()
    const first = await create({ user_id: user, limit: 0 })
    const rows = Array.from({ length: 199 }, (_, n) => ({ user_id: user, external_ref: `K-${n}`, limit: n }))
    const { body: imported } = await call('POST', '/api/sms/admin/quota/import', {
      body: rows.map(row => `${JSON.stringify(row)}\n`).join(''),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(imported).toContain('"created":199')
    expect(await create({ user_id: user, limit: 1 }, 422)).toMatchObject({ code: 'too_many_quotas' })
    const ended = { starts_at: '2025-01-01T00:00:00Z', expires_at: '2026-01-01T00:00:00Z' }
    const past = await create({ user_id: user, limit: 1, ...ended })

    await call('DELETE', `/api/sms/admin/quota/${first.id}`)
    await create({ user_id: user, limit: 1 })
    // A revived quota counts like a new one.
    const revived = await call('PUT', `/api/sms/admin/quota/${past.id}`, { body: { expires_at: null } })
    expect(revived).toMatchObject({ status: 422, body: { code: 'too_many_quotas' } })
  })
})

describe('Idempotency-Key', () => {
  const post = (key: string, body: object, token = service.adminToken) =>
    call('POST', '/api/sms/admin/quota', { token, body, headers: { 'idempotency-key': key } })

  test("a refusal is not remembered, and one administrator's key is not another's", async () => {
    const user = someone()
    const twin = { user_id: user, limit: 1, external_ref: 'R' }
    const first = await create(twin)
    expect((await post('k4', twin)).status).toBe(409)
    await call('DELETE', `/api/sms/admin/quota/${first.id}`)
    const made = await post('k4', twin)
    expect(made.status).toBe(201)
    const colleague = await service.token({ sub: '2', roles: ['sms-quota:admin'] })
    expect((await post('k4', { user_id: user, limit: 2 }, colleague)).status).toBe(201)
  })
})

describe('update', () => {
  const put = (id: number, body: object, headers = {}) => call('PUT', `/api/sms/admin/quota/${id}`, { body, headers })

  test('merges: omitted fields stay, null clears, and the version grows by one', async () => {
    const { id, user_id } = await create({
      user_id: someone(),
      limit: 10,
      name: 'a',
      external_ref: 'r',
      countries: ['DE'],
    })
    clock.now += 1_000
    const changed = await put(id, { limit: 20, name: null, user_id, kind: 'grant', time_zone: 'utc', period: null })
    expect(changed).toMatchObject({
      status: 200,
      body: { limit: 20, name: null, external_ref: 'r', countries: ['DE'], version: 2 },
    })
    expect(changed.headers.etag).toBe('"2"')
    expect(changed.body.updated_at).toBe(new Date(clock.now).toISOString())
    expect((await call('GET', `/api/sms/admin/quota/${id}`)).body).toEqual(changed.body)
  })

  test('a body without changes changes nothing, not even the version', async () => {
    const created = await create({
      user_id: someone(),
      limit: 10,
      metadata: { a: '1', b: '2' },
      countries: ['DE', 'AT'],
    })
    clock.now += 1_000
    for (const body of [{}, { limit: 10 }, { metadata: { b: '2', a: '1' }, countries: ['AT', 'DE'] }]) {
      const same = await put(created.id, body)
      expect(same.body).toMatchObject({ version: 1, updated_at: created.updated_at })
    }
    const { rows } = await changesOf(created.id)
    expect(rows).toHaveLength(1)
  })

  test.each([
    ['user_id', { user_id: 1 }],
    ['kind', { kind: 'cap' }],
    ['period', { period: 'day' }],
    ['anchor', { anchor: '15' }],
    ['time_zone', { time_zone: 'Europe/Paris' }],
    ['starts_at', { starts_at: '2030-01-01T00:00:00Z' }],
  ])('%s cannot be changed', async (name, body) => {
    const { id } = await create({ user_id: someone(), limit: 10 })
    const answer = await put(id, body)
    expect(answer).toMatchObject({ status: 422, body: { code: 'immutable_field', errors: [{ path: `/${name}` }] } })
  })

  test.each([
    // As proxies change the ETag of an answer that they compress.
    ...['W/"1"', '"1-gzip"', 'W/"1-gzip"', '"1--gzip"', '"1-br"', '"1;zstd"', '"1:deflate"'],
    ...['"7", W/"1"', '"1" ,"7"', '"a,b", "1-gzip"', '"1",\t"9"'],
    // Of a list, empty elements are none (RFC 9110).
    ...['"1",', ',"1"', '"7",,"1"', '"7" , ,\t"1" ,'],
  ])('If-Match: %s is version 1', async tag => {
    const { id } = await create({ user_id: someone(), limit: 10 })
    expect((await put(id, { limit: 11 }, { 'if-match': tag })).status).toBe(200)
    expect((await put(id, { limit: 12 }, { 'if-match': tag })).status).toBe(412)
  })

  test.each([
    ...['"2"', 'W/"2-gzip"', '"01"', '"1-2"', '"-1"', '"1.0"', '"a1"', '""', 'W/""', '"gzip"', '"a,1"', '"W/1"'],
    ...['"99999999999999999999"', '"äöü"', '"1-"', '"-gzip"'],
  ])('If-Match: %s is no version', async tag => {
    const { id } = await create({ user_id: someone(), limit: 10 })
    expect((await put(id, { limit: 11 }, { 'if-match': tag })).status).toBe(412)
  })

  test.each([
    '1',
    'W/1',
    'w/"1"',
    '"1',
    '1"',
    '"1"2"',
    '"1" "2"',
    '*, "1"',
    ',',
    ', ,',
    '"1", *',
    '"1";q=1',
    "'1'",
    '',
  ])('If-Match: %s is refused, with what it should be', async tag => {
    const { id } = await create({ user_id: someone(), limit: 10 })
    const { status, body } = await put(id, { limit: 11 }, { 'if-match': tag })
    expect({ status, issues: body.errors }).toEqual({
      status: 400,
      issues: [
        {
          path: '/if-match',
          message: `must be the ETag of an answer, such as "3" with its quotes, several of them, or *, not ${JSON.stringify(tag)}`,
        },
      ],
    })
  })

  test('If-Match allows only the named version', async () => {
    const { id } = await create({ user_id: someone(), limit: 10 })
    expect((await put(id, { limit: 11 }, { 'if-match': '"1"' })).status).toBe(200)
    const stale = await put(id, { limit: 12 }, { 'if-match': '"1"' })
    expect(stale).toMatchObject({ status: 412, body: { code: 'version_mismatch' } })
    expect(stale.headers.etag).toBe('"2"')
    expect((await put(id, { limit: 12 }, { 'if-match': '"1", "2"' })).status).toBe(200)
    expect((await put(id, { limit: 13 }, { 'if-match': '*' })).status).toBe(200)
  })

  test('a limit below usage is refused unless allow_below_usage is set', async () => {
    const { id } = await create({ user_id: someone(), limit: 100 })
    // Sets the counters directly, without a sender.
    await service.db.query({ text: sql`update quota set used = 60, reserved = 10 where id = $1`, values: [id] })
    expect(await put(id, { limit: 69 })).toMatchObject({ status: 422, body: { code: 'below_usage' } })
    expect(await put(id, { limit: 60, overage_limit: 10 })).toMatchObject({ status: 200, body: { overage: 10 } })
    const forced = await put(id, { limit: 5, overage_limit: 0, allow_below_usage: true })
    expect(forced).toMatchObject({ status: 200, body: { used: 60, reserved: 10, remaining: 0, status: 'exhausted' } })
  })

  test('conflicts of external_ref and rules between fields apply to the merged quota', async () => {
    const user = someone()
    const taken = await create({ user_id: user, limit: 1, external_ref: 'A' })
    const { id } = await create({ user_id: user, limit: 1 })
    expect(await put(id, { external_ref: 'A' })).toMatchObject({ status: 409, body: { existing_id: taken.id } })
    const cap = await create({ user_id: user, limit: 1, kind: 'cap' })
    const faulty = await put(cap.id, { limit: null, overage_limit: 5, expires_at: '2000-01-01T00:00:00Z' })
    expect(faulty).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect(faulty.body.errors.map((issue: { path: string }) => issue.path)).toEqual([
      '/limit',
      '/overage_limit',
      '/expires_at',
    ])
  })
})

describe('delete', () => {
  test('returns 204, then 404; administrators can still list the quota', async () => {
    const user = someone()
    const { id } = await create({ user_id: user, limit: 10 })
    const url = `/api/sms/admin/quota/${id}`
    expect((await call('DELETE', url, { headers: { 'if-match': '"9"' } })).status).toBe(412)
    const gone = await call('DELETE', url)
    expect(gone).toMatchObject({ status: 204, body: '' })
    for (const method of ['GET', 'DELETE']) expect((await call(method, url)).status).toBe(404)
    expect((await call('PUT', url, { body: { limit: 5 } })).status).toBe(404)
    expect((await call('GET', `/api/sms/admin/quota/list?user_id=${user}`)).body.items).toEqual([])
    const kept = await call('GET', `/api/sms/admin/quota/list?user_id=${user}&status=deleted`)
    expect(kept.body).toMatchObject({ total: 1, items: [{ id, status: 'deleted', version: 2 }] })
  })
})

describe('each change writes its history and its event in the same transaction', () => {
  test('create, update, delete', async () => {
    const user = someone()
    const { id } = await create({ user_id: user, limit: 10 })
    await call('PUT', `/api/sms/admin/quota/${id}`, { body: { limit: 20 }, headers: { 'x-request-id': 'req-7' } })
    await call('DELETE', `/api/sms/admin/quota/${id}`)
    const { rows, events } = await changesOf(id)
    expect(rows).toMatchObject([
      { version: 1, action: 'created', before: null, after: { limit: 10 } },
      { version: 2, action: 'updated', request_id: 'req-7', actor: '1', before: { limit: 10 }, after: { limit: 20 } },
      { version: 3, action: 'deleted', before: { status: 'active' }, after: { status: 'deleted' } },
    ])
    expect(events).toMatchObject([
      { sequence: 1, type: 'quota.created', data: { quota: { id, limit: 10 } } },
      { sequence: 2, type: 'quota.updated', data: { quota: { id, limit: 20 } } },
      { sequence: 3, type: 'quota.deleted', data: { quota: { id, status: 'deleted' } } },
    ])
  })

  test('the event numbers of a shard have no gaps under concurrent writes', async () => {
    const users = Array.from({ length: 12 }, someone)
    await Promise.all(users.flatMap(user => [1, 2, 3].map(limit => create({ user_id: user, limit }))))
    const gaps = await service.db.query({
      text: sql`select shard from event group by shard having max(number) <> count(*)
             union all
             select e.shard from event e group by e.shard, e.user_id having max(e.sequence) <> count(*)`,
    })
    expect(gaps).toEqual([])
  })
})

async function changesOf(id: number) {
  const values = [id]
  return {
    rows: await service.db.query({
      text: sql`select * from quota_change where quota_id = $1 order by version`,
      values,
    }),
    events: await service.db.query({
      text: sql`select * from event where data -> 'quota' ->> 'id' = $1::text order by number`,
      values,
    }),
  }
}
