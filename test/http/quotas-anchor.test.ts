/** Quotas whose months or years begin on a day of their own: everything that knows of windows follows it. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { START } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, clock, ask, someone, allow } = service
const ADMIN = '/api/sms/admin'

const read = async (id: number) => (await call('GET', `${ADMIN}/quota/${id}`)).body
const put = (id: number, body: object, headers = {}) => call('PUT', `${ADMIN}/quota/${id}`, { body, headers })

async function ndjson(path: string, rows: readonly object[], headers = {}) {
  const body = rows.map(row => `${JSON.stringify(row)}\n`).join('')
  const type = { 'content-type': 'application/x-ndjson' }
  return linesOf(await call('POST', `${ADMIN}/${path}`, { body, headers: { ...type, ...headers } }))
}

const linesOf = ({ body }: { body: unknown }) =>
  String(body)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ record }) => record !== 'progress')

/** It is noon of 15 March 2026, a Sunday. */
test('time stands still between tests', () => expect(new Date(START).toISOString()).toBe('2026-03-15T12:00:00.000Z'))

describe('a new quota', () => {
  test.each([
    [{ period: 'month' }, null, '2026-03-01', '2026-04-01'],
    [{ period: 'month', anchor: null }, null, '2026-03-01', '2026-04-01'],
    [{ period: null, anchor: null }, null, '2026-03-01', null],
    [{ period: 'week', anchor: null }, null, '2026-03-09', '2026-03-16'],
    // What equals the calendar's own is kept as it was written.
    [{ period: 'month', anchor: '1' }, '1', '2026-03-01', '2026-04-01'],
    [{ period: 'month', anchor: '15' }, '15', '2026-03-15', '2026-04-15'],
    [{ period: 'month', anchor: '16' }, '16', '2026-03-01', '2026-03-16'],
    [{ period: 'month', anchor: '31', starts_at: '2026-01-01T00:00:00Z' }, '31', '2026-02-28', '2026-03-31'],
    [{ period: 'month', anchor: '29', starts_at: '2026-01-01T00:00:00Z' }, '29', '2026-02-28', '2026-03-29'],
    [{ period: 'year', anchor: '01-01', starts_at: '2020-01-01T00:00:00Z' }, '01-01', '2026-01-01', '2027-01-01'],
    [{ period: 'year', anchor: '04-01', starts_at: '2020-01-01T00:00:00Z' }, '04-01', '2025-04-01', '2026-04-01'],
    [{ period: 'year', anchor: '02-29', starts_at: '2020-01-01T00:00:00Z' }, '02-29', '2026-02-28', '2027-02-28'],
    [{ period: 'year', anchor: '12-31', starts_at: '2020-01-01T00:00:00Z' }, '12-31', '2025-12-31', '2026-12-31'],
  ])('with %o has the windows of its anchor', async (fields, anchor, start, end) => {
    const body = { user_id: someone(), limit: 10, starts_at: '2026-03-01T00:00:00Z', ...fields }
    const answer = await call('POST', `${ADMIN}/quota`, { body })
    expect(answer).toMatchObject({ status: 201, body: { anchor } })
    expect(answer.body.window_start).toBe(`${start}T00:00:00.000Z`)
    expect(answer.body.window_end).toBe(end === null ? null : `${end}T00:00:00.000Z`)
    expect(await read(answer.body.id)).toEqual(answer.body)
  })

  const shapes = [
    ...['0', '01', '09', '32', '00', '-1', '+1', '1.0', '1.', ' 1', '1 ', '1\n', '', '1e1', '٣', '１５', '015', '31st'],
    ...[
      '4-1',
      '04-1',
      '4-01',
      '04/01',
      '0401',
      '00-10',
      '13-01',
      '04-31',
      '06-31',
      '02-30',
      '01-00',
      '01-32',
      '2026-04-01',
    ],
    ...['04-01 ', '--04-01', 'last', 'null', 'L', '04–01'],
  ]
  test.each(shapes)('is refused with the anchor %j', async anchor => {
    for (const period of ['month', 'year']) {
      const answer = await call('POST', `${ADMIN}/quota`, { body: { user_id: 1, limit: 1, period, anchor } })
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: '/anchor' }] } })
      expect(answer.body.errors[0].message).toContain('a day of the month from "1" to "31"')
      expect(answer.body.errors[0].message).toContain('a month and a day such as "04-01"')
    }
  })

  test.each([15, 4.1, true, [], {}, ['15']])('is refused with the anchor %j, which is no text', async anchor => {
    const answer = await call('POST', `${ADMIN}/quota`, { body: { user_id: 1, limit: 1, period: 'month', anchor } })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: '/anchor' }] } })
    expect(answer.body.errors[0].message).toContain('"1" to "31"')
  })

  const only = 'must be null unless the period is month or year'
  const ofMonth = 'must be null or a day of the month from "1" to "31" for the period month'
  const ofYear = 'must be null or a month and a day such as "04-01" for the period year'
  test.each([
    [null, '15', only],
    ['hour', '15', only],
    ['day', '1', only],
    ['week', '1', only],
    ['week', '04-01', only],
    ['month', '04-01', ofMonth],
    ['month', '01-01', ofMonth],
    ['year', '15', ofYear],
    ['year', '1', ofYear],
  ])('of the period %s is refused with the anchor %s', async (period, anchor, message) => {
    const body = { user_id: 1, limit: 1, period, anchor }
    expect(await call('POST', `${ADMIN}/quota`, { body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: '/anchor', message }] },
    })
  })
})

describe('the anchor cannot be changed', () => {
  test.each([
    [{ period: 'month', anchor: '15' }, '15'],
    [{ period: 'month' }, null],
    [{ period: 'month' }, '1'],
    [{ period: 'month', anchor: '1' }, null],
    [{ period: 'month', anchor: '1' }, '1'],
    [{ period: 'year', anchor: '04-01' }, '04-01'],
    [{ period: 'year', anchor: '01-01' }, null],
    [{ period: 'year' }, '01-01'],
    [{ period: null }, null],
    [{ period: 'day' }, null],
  ])('and for %o the equal %j changes nothing', async (fields, anchor) => {
    const row = { user_id: someone(), external_ref: 'A', limit: 10, ...fields }
    const id = await allow(row)
    const before = await read(id)
    expect(await put(id, { anchor }, { 'if-match': '"1"' })).toMatchObject({ status: 200, body: before })
    const { kind, period, time_zone, limit, countries, metadata } = before
    const whole = { kind, period, time_zone, limit, countries, metadata, anchor }
    expect(await put(id, whole)).toMatchObject({ status: 200, body: before })
    expect(await ndjson('quota/import', [{ ...row, anchor }])).toMatchObject([{ unchanged: 1, updated: 0, failed: 0 }])
    expect(await put(id, { anchor, limit: 11 })).toMatchObject({
      status: 200,
      body: { version: 2, anchor: before.anchor },
    })
  })

  test.each([
    [{ period: 'month', anchor: '15' }, null, '"15"'],
    [{ period: 'month', anchor: '15' }, '1', '"15"'],
    [{ period: 'month', anchor: '31' }, '30', '"31"'],
    [{ period: 'month' }, '15', 'null'],
    [{ period: 'year', anchor: '04-01' }, '05-01', '"04-01"'],
    [{ period: 'year', anchor: '02-29' }, '02-28', '"02-29"'],
    [{ period: 'year' }, '1', 'null'],
    [{ period: 'day' }, '1', 'null'],
    [{}, '15', 'null'],
  ])('of %o to %j', async (fields, anchor, shown) => {
    const row = { user_id: someone(), external_ref: 'A', limit: 10, ...fields }
    const id = await allow(row)
    const refusal = {
      code: 'immutable_field',
      errors: [{ path: '/anchor', message: `cannot be changed; it is ${shown}` }],
    }
    expect(await put(id, { anchor })).toMatchObject({ status: 422, body: refusal })
    expect(await ndjson('quota/import', [{ ...row, anchor }])).toMatchObject([
      { record: 'failed', ...refusal },
      { failed: 1 },
    ])
  })
})

test('units are drawn, denied, alerted, rolled over and counted by its windows', async () => {
  clock.now = START
  const user = someone()
  const fields = { limit: 100, period: 'month', anchor: '31', rollover_limit: 30, alert_at: [50], name: 'Plan' }
  const id = await allow({ user_id: user, starts_at: '2026-01-01T00:00:00Z', opening_used: 20, ...fields })
  const cap = await allow({ user_id: user, kind: 'cap', limit: 60, period: 'year', anchor: '04-01' })
  const send = (id: string, units: number) => ask('consume', { user_id: user, id, units })

  expect((await send('a', 40)).body).toMatchObject({ granted: true })
  expect((await send('b', 30)).body).toMatchObject({
    granted: false,
    reason: 'cap_reached',
    retry_at: '2026-04-01T00:00:00.000Z',
  })
  await put(cap, { limit: 1_000 })
  expect((await send('b', 41)).body).toMatchObject({
    granted: false,
    reason: 'quota_exhausted',
    retry_at: '2026-03-31T00:00:00.000Z',
  })
  const summary = (await call('GET', `${ADMIN}/quota/summary?user_id=${user}`)).body
  expect(summary).toMatchObject({
    next_reset: { at: '2026-03-31T00:00:00.000Z' },
    available_until: { at: '2026-03-31T00:00:00.000Z', units: 40 },
    caps: [{ quota_id: cap, period: 'year', anchor: '04-01', window_end: '2026-04-01T00:00:00.000Z' }],
  })

  // The engine has the quota in memory, and rolls it at the boundary, not on the first.
  clock.now = Date.parse('2026-03-30T23:59:59.999Z')
  expect((await send('c', 41)).body).toMatchObject({ granted: false })
  clock.now = Date.parse('2026-03-31T00:00:00Z')
  expect((await send('c', 41)).body).toMatchObject({ granted: true })
  expect(await read(id)).toMatchObject({
    used: 41,
    rolled_over: 30,
    window_start: '2026-03-31T00:00:00.000Z',
    window_end: '2026-04-30T00:00:00.000Z',
  })
  clock.now = Date.parse('2026-04-01T00:00:00Z')
  expect(await read(id)).toMatchObject({ used: 41 })
  expect(await read(cap)).toMatchObject({ used: 0, window_end: '2027-04-01T00:00:00.000Z' })
  expect((await send('d', 30)).body).toMatchObject({ granted: true })

  // No call for months: 30 April, 31 May, 30 June, 31 July.
  clock.now = Date.parse('2026-08-02T00:00:00Z')
  expect(await read(id)).toMatchObject({ used: 0, rolled_over: 30, window_start: '2026-07-31T00:00:00.000Z' })
  const { items } = (await call('GET', `${ADMIN}/quota/${id}/windows`)).body
  expect(items).toMatchObject([
    { window_no: 1, window_start: '2026-03-31T00:00:00.000Z', window_end: '2026-04-30T00:00:00.000Z', used: 71 },
    { window_no: 0, window_start: '2026-02-28T00:00:00.000Z', window_end: '2026-03-31T00:00:00.000Z', used: 60 },
  ])
  await ask('consume', { user_id: user, id: 'e', units: 1 })
  expect((await call('GET', `${ADMIN}/quota/${id}/windows`)).body.items[0]).toMatchObject({ window_no: 1 })
  expect(await read(id)).toMatchObject({ used: 1 })

  const { items: events } = (await call('GET', `${ADMIN}/events?user_id=${user}&types=quota.threshold_reached`)).body
  const starts = events.map(({ data }: { data: { quota: { id: number; window_start: string } } }) => data.quota)
  expect(starts.filter((quota: { id: number }) => quota.id === id)).toMatchObject([
    { anchor: '31', window_start: '2026-02-28T00:00:00.000Z' },
    { anchor: '31', window_start: '2026-03-31T00:00:00.000Z' },
  ])
  expect((await verify(service.db)).differences).toEqual([])
})

test('extra units for the window end with it, and other units with the calendar month', async () => {
  clock.now = START
  const [user, prepaid] = [someone(), someone()]
  const id = await allow({ user_id: user, limit: 100, period: 'month', anchor: '20', time_zone: 'Europe/Berlin' })
  const once = await allow({ user_id: prepaid, limit: 100 })
  const give = async (of: number, terms: object) => {
    const body = { users: [{ user_id: of }], units: 50, reason: 'Outage', ...terms }
    const headers = { 'idempotency-key': `gift-${of}` }
    return linesOf(await call('POST', `${ADMIN}/quota/give`, { body, headers }))
  }
  const until = '2026-03-19T23:00:00.000Z'
  expect(await give(user, { period: 'month' })).toMatchObject([
    {},
    { record: 'given', gift: { quota: { id }, until } },
    {},
  ])
  const [, extra] = (await call('GET', `${ADMIN}/quota/list?user_id=${user}&sort=id`)).body.items
  expect(extra).toMatchObject({ expires_at: until, period: null, anchor: null })
  expect(await give(prepaid, { period: null, until: 'month_end', time_zone: 'Europe/Berlin' })).toMatchObject([
    {},
    { record: 'given', gift: { quota: { id: once }, until: '2026-03-31T22:00:00.000Z' } },
    {},
  ])
})

test('what an export writes an import takes back unchanged, and histories and events show it', async () => {
  clock.now = START
  const user = someone()
  const rows = [
    { external_ref: 'A', period: 'month', anchor: '15' },
    { external_ref: 'B', period: 'year', anchor: '04-01' },
    { external_ref: 'C', period: 'month', anchor: '1' },
    { external_ref: 'D', period: 'month', anchor: null },
    { external_ref: 'E', period: null, anchor: null },
  ].map(row => ({ user_id: user, limit: 10, ...row }))
  expect(await ndjson('quota/import', rows)).toMatchObject([{ created: 5, failed: 0 }])
  const exported = linesOf(await call('GET', `${ADMIN}/export/quotas?user_id=${user}`))
  expect(
    exported
      .filter(({ external_ref }) => external_ref)
      .map(({ anchor }) => anchor)
      .sort(),
  ).toEqual(['15', '04-01', '1', null, null].sort())
  const names = Object.keys(rows[0] ?? {})
  const again = exported
    .filter(({ external_ref }) => external_ref)
    .map(record => Object.fromEntries(names.map(name => [name, record[name]])))
  expect(await ndjson('quota/import', again)).toMatchObject([{ unchanged: 5, failed: 0 }])

  const [{ id }] = (await call('GET', `${ADMIN}/quota/list?user_id=${user}&external_ref=A`)).body.items
  const token = await service.userToken(user)
  expect((await call('GET', `/api/sms/quota/list?external_ref=A`, { token })).body.items).toMatchObject([
    { anchor: '15' },
  ])
  expect((await call('GET', `${ADMIN}/quota/${id}/history`)).body.items).toMatchObject([{ after: { anchor: '15' } }])
  expect((await call('GET', `${ADMIN}/search?q=${id}`)).status).toBe(200)
  const data = linesOf(await call('GET', `${ADMIN}/users/${user}/data`))
  expect(JSON.stringify(data)).toContain('"anchor":"04-01"')
})

test('adjusting, suspending, extending and ending keep it', async () => {
  clock.now = START
  const user = someone()
  const id = await allow({
    user_id: user,
    limit: 10,
    period: 'month',
    anchor: '31',
    expires_at: '2026-05-31T00:00:00Z',
  })
  await call('POST', `${ADMIN}/quota/${id}/adjust`, { body: { delta: 5, reason: 'more' } })
  const bulk = (change: object) =>
    call('POST', `${ADMIN}/quota/bulk`, {
      body: { select: { ids: [id] }, change },
      headers: { 'idempotency-key': `bulk-${JSON.stringify(change).length}` },
    })
  await bulk({ action: 'suspend' })
  await bulk({ action: 'resume' })
  await bulk({ action: 'extend', by: 'P1M' })
  expect(await read(id)).toMatchObject({ limit: 15, anchor: '31', window_end: '2026-03-31T00:00:00.000Z', version: 5 })
  // An expiry that is moved later opens the windows in between.
  await put(id, { expires_at: '2026-03-14T00:00:00Z', starts_at: (await read(id)).starts_at })
  expect((await put(id, { expires_at: '2026-03-15T13:00:00Z' })).body).toMatchObject({ anchor: '31' })
  clock.now = Date.parse('2026-07-04T00:00:00Z')
  expect((await put(id, { expires_at: null })).body).toMatchObject({ window_start: '2026-06-30T00:00:00.000Z' })
})

test('a start that moves takes the first window with it', async () => {
  clock.now = START
  const id = await allow({
    user_id: someone(),
    limit: 1,
    period: 'year',
    anchor: '04-06',
    starts_at: '2026-05-01T00:00:00Z',
  })
  expect(await read(id)).toMatchObject({ status: 'scheduled', window_end: '2027-04-06T00:00:00.000Z' })
  expect((await put(id, { starts_at: '2026-04-01T00:00:00Z' })).body.window_end).toBe('2026-04-06T00:00:00.000Z')
})

test('the database names the period so that a version without anchors opens no window of it', async () => {
  const user = someone()
  await allow({ user_id: user, limit: 1, period: 'month', anchor: '15', starts_at: '2026-01-01T00:00:00Z' })
  await allow({ user_id: user, limit: 1, period: 'year', anchor: '01-01' })
  await allow({ user_id: user, limit: 1, period: 'month' })
  const stored = () =>
    service.db.query({ text: sql`select period, anchor from quota where user_id = $1 order by id`, values: [user] })
  const expected = [
    { period: 'anchored_month', anchor: '15' },
    { period: 'anchored_year', anchor: '01-01' },
    { period: 'month', anchor: null },
  ]
  expect(await stored()).toEqual(expected)
  // Each way to write a quota leaves it so.
  for (const { id } of (await call('GET', `${ADMIN}/quota/list?user_id=${user}`)).body.items)
    await put(id, { limit: 5 })
  await ask('consume', { user_id: user, id: 'x', units: 2 })
  clock.now += 400 * DAY_MS
  await ask('consume', { user_id: user, id: 'y', units: 2 })
  expect(await stored()).toEqual(expected)
})
