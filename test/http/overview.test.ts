/** The overview: what is not well, in one answer that all callers share. */
import { expect, test } from 'vitest'
import { trip } from '../../src/admin/pauses/breaker.ts'
import { writeWatchedUsers } from '../../src/db/breaker/settings.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { countAtRisk } from '../../src/db/users/customers.ts'
import { DEFAULT_BUDGETS, judge, measure } from '../../src/domain/pauses/breaker.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { keep } from '../../src/http/overview/parts.ts'
import { createCustomerFigures } from '../../src/jobs/customer-figures.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { startSender } from './sender-fixture.ts'

const OVERVIEW = '/api/sms/admin/overview'
const service = await startSender()
const { call, clock, ask, token } = service

/** What is kept for some seconds is read anew. A part that came too late for one call is there for another. */
async function overview(query = '', from = service): Promise<Record<string, ReturnType<typeof JSON.parse>>> {
  from.clock.now += 10_000
  const answers: ReturnType<typeof JSON.parse>[] = []
  await expect
    .poll(async () => {
      const { status, body } = await from.call('GET', `${OVERVIEW}${query}`)
      expect(status, JSON.stringify(body)).toBe(200)
      answers.push(body)
      return body.unread.filter(({ reason }: { reason: string }) => reason === 'timed_out')
    })
    .toEqual([])
  return answers.at(-1)
}
async function allow(body: object): Promise<number> {
  const answer = await call('POST', '/api/sms/admin/quota', { body: { limit: 100, alert_at: [], ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}
const consume = (user_id: number, id: string, units: number, more: object = {}) =>
  ask('consume', { user_id, id, units, ...more })

test('of an empty platform says that all is well, to each role that reads', async () => {
  const body = await overview()
  expect(body).toMatchObject({
    as_of: new Date(clock.now).toISOString(),
    not_ready: null,
    unread: [],
    pauses: { count: 0, items: [] },
    breaker: { tripped: 0, observed: 0, is_more: false, items: [] },
    webhooks: { failing: 0, items: [] },
    customers: { blocked: 0, near_limit: 0, running_out: 0, ending: 0, is_more: false, items: [] },
    requests: { open: 0, is_more: false, items: [] },
    destinations: { unusual: 0, items: [] },
    usage: { time_zone: 'UTC', total: { committed: { units: 0, messages: 0 } }, before: { sent: 0 } },
    events: [],
  })
  for (const role of ['auditor', 'support']) {
    const answer = await call('GET', OVERVIEW, { token: await token({ sub: role, roles: [`sms-quota:${role}`] }) })
    expect([answer.status, answer.body]).toEqual([200, body])
  }
})

test('refuses what it does not know', async () => {
  const answer = await call('GET', `${OVERVIEW}?time_zone=Mars`)
  expect([answer.status, answer.body.errors[0].path]).toEqual([400, 'time_zone'])
})

test('counts customers at risk by their figures, and shows the first of the list with their names', async () => {
  await call('PUT', '/api/sms/admin/users/1/profile', { body: { name: 'Ann' } })
  const used = await allow({ user_id: 1, limit: 10, period: 'day', name: 'Codes', alert_at: [80, 100] })
  await consume(1, 'all', 10)
  await allow({ user_id: 2, alert_at: [80] })
  await consume(2, 'most', 85)
  await allow({ user_id: 3, expires_at: new Date(clock.now + DAY_MS).toISOString() })
  await allow({ user_id: 4 })
  // The figures of each are made by a job.
  await createUsageRollup({ db: service.db, log: console }).rollUpOnce()
  clock.now += 600_000
  while ((await createCustomerFigures({ db: service.db, now: () => clock.now }).renewOnce(clock.now)).isBehind);
  const { customers, events } = await overview()
  expect(customers).toMatchObject({ blocked: 1, near_limit: 1, running_out: 0, ending: 1, is_more: false })
  expect(customers.items).toMatchObject([
    {
      ...{ user_id: 1, user_name: 'Ann', state: 'blocked', reason: 'quota_exhausted', sendable: 0 },
      ...{ quota_id: used, until: '2026-03-16T00:00:00.000Z' },
    },
    { user_id: 2, state: 'near_limit', used_percent: 85, sendable: 15 },
    { user_id: 3, state: 'ending', sendable: 100 },
  ])
  const listed = await call('GET', '/api/sms/admin/customers?view=at_risk')
  expect(customers.items).toEqual(listed.body.items)
  expect(await countAtRisk(service.db, 2)).toEqual({
    counts: new Map([
      ['blocked', 1],
      ['near_limit', 1],
    ]),
    isMore: true,
  })
  const types = events.map(({ type }: { type: string }) => type)
  expect(types).toEqual(expect.arrayContaining(['quota.created', 'quota.threshold_reached']))
})

test('has pauses, requests, webhooks and countries that need a look', async () => {
  const grant = await allow({ user_id: 21, limit: 10_000 })
  await call('POST', '/api/sms/admin/pauses', { body: { user_id: 21, country: 'FR' } })
  const request = await call('POST', '/api/sms/admin/requests', { body: { user_id: 21, units: 5, reason: 'Sale' } })
  expect(request.body).toMatchObject({ quota_id: grant })
  const webhook = await call('POST', '/api/sms/admin/webhooks', { body: { url: 'https://receiver.example/' } })
  await service.db.query({ text: sql`update webhook set failing_since = '2026-03-20T12:00:00Z'` })
  await consume(21, 'usual', 30, { country: 'DE' })
  clock.now += 2 * DAY_MS
  await consume(21, 'again', 12, { country: 'DE' })
  await consume(21, 'new', 60, { country: 'TO' })
  const { pauses, requests, webhooks, destinations } = await overview()
  expect(pauses).toMatchObject({ count: 1, items: [{ user_id: 21, country: 'FR', active: true }] })
  expect(requests).toMatchObject({ open: 1, is_more: false, items: [{ id: request.body.id, units: 5 }] })
  expect(webhooks).toMatchObject({
    failing: 1,
    items: [{ id: webhook.body.id, failing_since: '2026-03-20T12:00:00.000Z' }],
  })
  expect(destinations).toEqual({ unusual: 1, items: [{ country: 'TO', asked: 60, denied: 0, usual: 0 }] })
  // A pause of other messages, or of one user, decides nothing about those.
  for (const part of [{ user_id: 21 }, { user_id: null, message_types: ['marketing'] }])
    await call('POST', '/api/sms/admin/pauses', { body: { country: 'TO', ...part } })
  expect((await overview()).destinations).toMatchObject({ unusual: 1 })
  await call('POST', '/api/sms/admin/pauses', { body: { user_id: null, country: 'TO' } })
  expect((await overview()).destinations).toEqual({ unusual: 0, items: [] })
})

test('has what the breaker observed once a user gives feedback: before, each code looks pumped', async () => {
  const codes = [{ start: clock.now - 60_000, end: clock.now, sent: 41, verified: 0 }]
  const evidence = judge(measure(codes, clock.now), { day: 0, quarter: 0 }, DEFAULT_BUDGETS)
  if (evidence === null) throw new Error('41 codes are no reason')
  for (const [country, observed, hoursAgo] of [
    ['LT', true, 5],
    ['LT', true, 0],
    ['LV', false, 0],
  ] as const) {
    const by = { now: clock.now - hoursAgo * HOUR_MS, actor: 'sms-quota', requestId: 'breaker' }
    const found = { user_id: 21, country, message_types: ['otp'], observed, evidence }
    expect((await trip(service.db, found, by)).outcome).toBe('tripped')
  }
  const examples = [{ user_id: 21, messages: 41 }]
  await writeWatchedUsers(service.db, { with_feedback: 0, without_feedback: 1, examples })
  expect((await overview()).breaker).toMatchObject({ tripped: 1, observed: 0, items: [{ country: 'LV' }] })
  await writeWatchedUsers(service.db, { with_feedback: 1, without_feedback: 1, examples })
  expect((await overview()).breaker).toMatchObject({ tripped: 1, observed: 1 })
  for (const [message_types, observed] of [
    [['marketing'], 1],
    [['otp'], 0],
  ] as const) {
    await call('POST', '/api/sms/admin/pauses', { body: { user_id: 21, country: 'LT', message_types } })
    expect((await overview()).breaker).toMatchObject({ tripped: 1, observed })
  }
})

test('sums up today and yesterday by the hour of a time zone, as the report of usage does', async () => {
  clock.now = Date.parse('2026-05-10T10:20:00Z')
  await allow({ user_id: 31, limit: 100 })
  await consume(31, 'yesterday', 7)
  clock.now += 2 * HOUR_MS
  await consume(31, 'later', 5)
  // In Auckland, noon of the day before was midnight.
  clock.now = Date.parse('2026-05-11T10:40:00Z')
  await consume(31, 'today', 20)
  await consume(31, 'denied', 500)
  const utc = (await overview()).usage
  expect(utc.total).toMatchObject({ committed: { units: 20, messages: 1 }, denied: { units: 500, messages: 1 } })
  expect(utc.total.denied_by_reason.quota_exhausted).toEqual({ units: 500, messages: 1 })
  expect(utc.before).toEqual({ until: '2026-05-10T10:45:00.000Z', sent: 7 })
  expect(utc.today).toHaveLength(11)
  expect(utc.today.at(-1)).toEqual({ start: '2026-05-11T10:00:00.000Z', sent: 20, denied: 500 })
  expect(utc.yesterday).toHaveLength(24)
  expect(utc.yesterday.filter(({ sent }: { sent: number }) => sent > 0)).toEqual([
    { start: '2026-05-10T10:00:00.000Z', sent: 7, denied: 0 },
    { start: '2026-05-10T12:00:00.000Z', sent: 5, denied: 0 },
  ])
  const { usage } = await overview('?time_zone=Pacific/Auckland')
  expect([usage.time_zone, usage.total.committed.units]).toEqual(['Pacific/Auckland', 25])
  expect(usage.today[0].start).toBe('2026-05-10T12:00:00.000Z')
  // A day of 25 hours after one of 24: all of that one was before.
  clock.now = Date.parse('2026-10-25T22:50:00Z')
  const { before, today } = (await overview('?time_zone=Europe/Berlin')).usage
  expect([before.until, today.length]).toEqual(['2026-10-24T22:00:00.000Z', 25])
})

test('a part that fails is null and named, and the others are there', async () => {
  const broken = await startSender({ database: databaseOfOnePostgres() })
  await broken.db.query({ text: sql`alter table increase_request rename to increase_request_elsewhere` })
  const body = await overview('', broken)
  expect(body).toMatchObject({ requests: null, unread: [{ part: 'requests', reason: 'failed' }], pauses: { count: 0 } })
  await broken.db.query({ text: sql`alter table increase_request_elsewhere rename to increase_request` })
  expect(await overview('', broken)).toMatchObject({ requests: { open: 0 }, unread: [] })
})

test('what is read is shared by all callers and kept for a while; a failure is not', async () => {
  let [now, reads] = [0, 0]
  const asked: PromiseWithResolvers<number>[] = []
  const read = keep(
    5_000,
    () => now,
    () => {
      reads++
      const reading = Promise.withResolvers<number>()
      asked.push(reading)
      return reading.promise
    },
  )
  const both = [read(), read()]
  expect(reads).toBe(1)
  asked[0]?.resolve(1)
  expect(await Promise.all(both)).toEqual([1, 1])
  now = 4_999
  expect(await read()).toBe(1)
  now = 5_000
  const failing = read()
  asked[1]?.reject(new Error('gone'))
  await expect(failing).rejects.toThrow('gone')
  const again = read()
  asked[2]?.resolve(3)
  expect(await again).toBe(3)
  // A clock that was ahead keeps nothing.
  now = -1
  void read()
  expect(reads).toBe(4)
})
