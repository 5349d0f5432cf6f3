/** What reading costs: each route of people charges for the rows of its answer, or cannot have many. */
import { EventEmitter } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { largestReads } from '../../bench/largest-reads.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { textInSlices } from '../../src/http/platform/reads.ts'
import { createReportLine } from '../../src/http/platform/report-line.ts'
import { giveWay, SLICE_ROWS } from '../../src/http/platform/turns.ts'
import { createCustomerFigures } from '../../src/jobs/customer-figures.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { whenDone } from '../support/cleanup.ts'
import { readDocument } from '../support/fuzz/document.ts'
import { watchRoutes } from '../support/routes.ts'
import { type Service, startService } from '../support/service.ts'

/** Rows that calls were charged for, by the path of the route; and the routes that are reports. */
const charged = new Map<string, number>()
const reports = new Set<string>()
const watched = new Set<FastifyInstance>()
const service = await watchRoutes(({ url, config }, server) => {
  const { reads } = server
  if (config?.isReport === true) reports.add(url)
  if (reads === undefined || watched.has(server)) return
  watched.add(server)
  const { charge } = reads
  reads.charge = (request, rows, paid) => {
    const route = request.routeOptions.url ?? ''
    charged.set(route, (charged.get(route) ?? 0) + rows)
    charge(request, rows, paid)
  }
}, startService)
const { app, call, clock, db, userToken, senderToken, webhooks } = service

const ONE = 'one record'
/** Routes whose answers have no rows to charge for, and why. */
const BOUNDED: Record<string, string> = {
  getNotifications: ONE,
  getQuota: ONE,
  getTransfer: ONE,
  getUser: ONE,
  getProfile: ONE,
  getErasure: ONE,
  getPause: ONE,
  getWebhook: ONE,
  getWebhookDelivery: ONE,
  whoAmI: ONE,
  listNames: 'one name for each subject that is asked for, and none is known here',
  replayBreaker: 'it found no pumped traffic here; a page of what it found is charged as all lists are',
}

/** The operations that people read with. */
const reads = readDocument(app.swagger()).operations.flatMap(({ id: operation, method, template }) =>
  method === 'GET' && /^\/api\/sms\/(quota|admin|me)\b(?!.*notifications\/(confirm|stop))/.test(template)
    ? [{ operation, route: template.replaceAll(/\{(\w+)\}/g, ':$1') }]
    : [],
)

async function fill() {
  const post = async (path: string, body: object, headers = {}) =>
    (await call('POST', `/api/sms/admin/${path}`, { body, headers })).body
  const send = (op: string, body: object) => call('POST', `/api/sms/sender/quota/${op}`, { token: senderToken, body })
  const webhook = await post('webhooks', { url: 'https://receiver.invalid/' })
  const quota = await post('quota', { user_id: 7, limit: 100, period: 'hour', alert_at: [1] })
  const plan = await post('plans', { name: 'Basic', slots: [{ slot: 'monthly', limit: 5 }] })
  const rateCard = await post('rate-cards', { name: 'Standard' })
  await call('PUT', `/api/sms/admin/users/7/plan`, { body: { plan_id: plan.id } })
  const pause = await post('pauses', { user_id: 7, country: 'FR' })
  await post('quota', { user_id: 7, kind: 'cap', limit: 50 })
  const transfer = await post(
    `quota/${quota.id}/transfer`,
    { to_user_id: 8, units: 1 },
    { 'idempotency-key': 'reads-test' },
  )
  await post('requests', { user_id: 7, units: 5, reason: 'Sale' })
  await send('reserve', { user_id: 7, id: 'm', units: 45 })
  await send('consume', { user_id: 7, id: 'n', units: 1, country: 'DE' })
  await send('consume', { user_id: 7, id: 'denied', units: 1_000 })
  clock.now += 3_600_000
  await send('consume', { user_id: 7, id: 'later', units: 1 })
  await createUsageRollup({ db, log: { info() {}, warn() {}, error() {} } }).rollUpOnce()
  await createCustomerFigures({ db, now: () => clock.now }).renewOnce(clock.now)
  const sending = new AbortController()
  await webhooks.dispatchOnce(clock.now, sending.signal)
  sending.abort()
  await webhooks.idle()
  const first = async (path: string) => (await call('GET', `/api/sms/admin/${path}`)).body.items[0]
  return largestReads({
    ...{
      now: clock.now,
      user: 7,
      quota: quota.id,
      plan: plan.id,
      rateCard: rateCard.id,
      webhook: webhook.id,
      pause: pause.id,
      reservation: 'm',
    },
    ...{ transfer: transfer.transfer?.id ?? transfer.id, denial: (await first('denials')).denial_id },
    delivery: (await first(`webhooks/${webhook.id}/deliveries`)).id,
  })
}

const urls = await fill()

test('the routes that people read with are those that are measured', () => {
  expect(Object.keys(urls).toSorted()).toEqual(reads.map(({ operation }) => operation).toSorted())
})

test.each(reads)('$operation charges for its rows, or cannot have many', async ({ operation, route }) => {
  charged.clear()
  const own = urls[operation]?.startsWith('/quota/') === true
  const url = `/api/sms${urls[operation]}`.replace('state=expired', 'state=reserved').replace('&view=at_risk', '')
  const { status, body } = await call('GET', url, own ? { token: await userToken(7) } : {})
  expect(status, JSON.stringify(body)).toBe(operation === 'getErasure' ? 404 : 200)
  const rows = charged.get(route) ?? 0
  if (operation in BOUNDED) expect(rows).toBe(0)
  else expect(rows).toBeGreaterThan(0)
})

const REPORT = 'from=2023-06-01T00:00:00Z&to=2026-02-25T00:00:00Z&interval=day'
const MONTH = 'from=2026-02-01T00:00:00Z&to=2026-03-01T00:00:00Z&interval=month'

/** Stored usage of a user: each row of another grant, in one quarter of an hour. */
async function store(on: Service, user: number, rows: number): Promise<void> {
  await on.db.query({
    text: sql`insert into usage select $1::smallint, $2::bigint, '2026-02-01', n, null, null, 1, 1, 0, 0, 0, 0
      from generate_series(1, $3::int) n`,
    values: [shardOf(user), user, rows],
  })
}

test('a report costs as many calls as pages of its rows, and what it adds up a tenth of that', async () => {
  const limited = await startService({ rateLimitPerMinute: 15 })
  const statuses = async (user: number, query: string, calls: number) => {
    const token = await limited.userToken(user)
    const answers = [await limited.call('GET', `/api/sms/quota/usage?${query}`, { token })]
    for (let n = 0; n < calls; n++) answers.push(await limited.call('GET', '/api/sms/me', { token }))
    return answers.map(({ status }) => status)
  }
  const ok = (count: number) => new Array<number>(count).fill(200)
  // 1,000 rows: nine calls beside its own.
  expect(await statuses(1, REPORT, 6)).toEqual([...ok(6), 429])
  await store(limited, 2, 11_000)
  expect(await statuses(2, MONTH, 4)).toEqual([...ok(4), 429])
  expect(await statuses(3, MONTH, 14)).toEqual(ok(15))
})

test('an export is charged by the row', async () => {
  const limited = await startService({ rateLimitPerMinute: 12 })
  await store(limited, 1, 300)
  const ask = (url: string) => limited.call('GET', `/api/sms/${url}`)
  expect((await ask('admin/export/usage')).status).toBe(200)
  const statuses: number[] = []
  for (let n = 0; n < 9; n++) statuses.push((await ask('me')).status)
  expect(statuses).toEqual([...new Array<number>(8).fill(200), 429])
})

test('two reports of a principal run, a hundred wait for their turn, and more are 429; others are answered', async () => {
  const token = await userToken(9)
  await call('GET', '/api/sms/me', { token })
  const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const held = db.transaction(async tx => {
    await tx.query({ text: sql`lock table usage in access exclusive mode` })
    entered.resolve()
    await leave.promise
  })
  whenDone(() => leave.resolve())
  await entered.promise
  const ask = () => call('GET', `/api/sms/quota/usage?${MONTH}`, { token })
  const asked = Array.from({ length: 103 }, ask)
  expect(await Promise.race(asked)).toMatchObject({
    status: 429,
    headers: { 'retry-after': '1' },
    body: { code: 'rate_limited' },
  })
  expect((await call('GET', '/api/sms/quota/list', { token })).status).toBe(200)
  // A long page of any list is one, too.
  expect((await call('GET', '/api/sms/quota/list?page_size=101', { token })).status).toBe(429)
  leave.resolve()
  await held
  const answered = (await Promise.all(asked)).filter(({ status }) => status === 200)
  expect(answered).toHaveLength(102)
  expect((await ask()).status).toBe(200)
})

describe('the line of reports', () => {
  const replyOf = (subject: string, closed = false) => {
    return { raw: Object.assign(new EventEmitter(), { closed }), request: { principal: { subject } } }
  }

  test('goes on when one is sent; who leaves it is not started; the share of others is kept', () => {
    const line = createReportLine()
    const started: string[] = []
    const enter = (subject: string, name: string) => {
      const reply = replyOf(subject)
      line.enter(reply, () => started.push(name))
      return reply
    }
    const [first, second, third] = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3')]
    enter('a', 'a4')
    enter('b', 'b1')
    expect(started).toEqual(['a1', 'a2', 'b1'])
    third.raw.emit('close')
    // It is made, and not sent yet.
    line.made(first)
    expect(started).toHaveLength(3)
    first.raw.emit('close')
    expect(started.at(-1)).toBe('a4')
    // Four are being made.
    enter('c', 'c1')
    enter('d', 'd1')
    expect(started.at(-1)).toBe('c1')
    line.made(second)
    expect(started.at(-1)).toBe('d1')
  })

  test('has room for the next ones of a principal whose connections have closed before they came', () => {
    const line = createReportLine()
    const started: string[] = []
    for (let n = 0; n < 5; n++) line.enter(replyOf('a', true), () => {})
    for (const name of ['a1', 'a2', 'a3']) line.enter(replyOf('a'), () => started.push(name))
    expect(started).toEqual(['a1', 'a2'])
  })
})

test('long answers become JSON in slices, each in a turn of its own', async () => {
  const items = Array.from({ length: 1_000 }, (_, n) => ({ n, text: `"items":[]`, draws: [{ n }] }))
  for (const answer of [
    { items, a: [{ n: 1 }] },
    { a: 'x', items },
    { a: { items: [] }, items },
  ]) {
    const sizes: number[] = []
    let turns = 0
    const text = await textInSlices(
      answer,
      2_000,
      part => {
        sizes.push((part.items as []).length)
        return JSON.stringify(part)
      },
      async () => {
        turns += 1
      },
    )
    expect(text).toBe(JSON.stringify(answer))
    if ('a' in answer && typeof answer.a === 'object' && !Array.isArray(answer.a)) continue
    expect(turns).toBe(2_000 / SLICE_ROWS)
    expect(Math.max(...sizes)).toBe(SLICE_ROWS / 2)
  }
})

test('the rows of a report and their JSON are made in slices, with a turn of the event loop between them', async () => {
  const other = await startService()
  await store(other, 10, 9)
  let turns = 0
  let isRunning = true
  const count = () => {
    turns += 1
    if (isRunning) setImmediate(count)
  }
  // Turns count from the last answer of the database.
  const { query } = other.db
  other.db.query = async <R extends object>(statement: Parameters<typeof query>[0]) => {
    const rows = await query<R>(statement)
    turns = 0
    return rows
  }
  const token = await other.userToken(10)
  setImmediate(count)
  const { body } = await other.call('GET', `/api/sms/quota/usage?${REPORT}&group_by=quota`, { token })
  isRunning = false
  expect(body.items).toHaveLength(9_000)
  expect(turns).toBeGreaterThanOrEqual((2 * 9_000) / SLICE_ROWS - 2)
})

test('work that gives way takes turns: one slice between two looks at the connections', async () => {
  const turns: string[] = []
  let isRunning = true
  const look = () => {
    turns.push('|')
    if (isRunning) setImmediate(look)
  }
  setImmediate(look)
  const work = async (name: string) => {
    for (let n = 0; n < 3; n++) {
      await giveWay()
      turns.push(name)
    }
  }
  await Promise.all([work('a'), work('b')])
  isRunning = false
  expect(turns.join('')).toMatch(/^\|?a\|+b\|+a\|+b\|+a\|+b\|?$/)
})
