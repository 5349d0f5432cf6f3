/** The event feed and webhooks across restarts and fail-overs of the database. */
import { expect, test } from 'vitest'
import { ConnectionLost, type Database, type Queryable } from '../../src/db/connection/database.ts'
import { type Claim, claimDeliveries } from '../../src/db/webhooks/deliveries.ts'
import { fanOut } from '../../src/db/webhooks/fan-out.ts'
import { readCursor } from '../../src/events/cursor.ts'
import { createFeed } from '../../src/events/feed.ts'
import { settleDeliveries } from '../../src/events/settle-delivery.ts'
import { createDispatcher, type Dispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { startFailover } from '../support/failover.ts'
import { createReceiver } from '../support/receiver.ts'
import { PLAIN } from '../support/secrets.ts'
import { startService } from '../support/service.ts'

const server = await startFailover()
const service = await startService({ env: { DATABASE_URL: server.url }, webhooks: { allowPrivate: true } })
const { call, clock, db, webhooks } = service
const log = { info() {}, warn() {}, error() {} }
const EVENTS = '/api/sms/admin/events'

/** Calls until the database is there again. */
async function persist(...request: Parameters<typeof call>) {
  for (;;) {
    const answer = await call(...request)
    if (answer.status !== 503) return answer
  }
}

/** Whether the connections of before have all been replaced. */
async function reachable(): Promise<boolean> {
  try {
    await Promise.all(Array.from({ length: 10 }, () => db.ping()))
    return true
  } catch {
    return false
  }
}

/** Emits an event of a user. Resolves to its quota. */
async function emit(user: number): Promise<number> {
  clock.now += 1_000
  const { status, body } = await persist('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 10 } })
  expect(status).toBe(201)
  return body.id
}

const read = (query: string) => persist('GET', `${EVENTS}?${query}`)
const latest = async (): Promise<string> => (await read('after=latest')).body.next
const page = (...quotas: number[]) => ({
  status: 200,
  body: { items: quotas.map(id => ({ data: { quota: { id } } })) },
})
const LOST = { status: 410, body: { code: 'events_lost' } }

async function createHook(url: string): Promise<number> {
  const { status, body } = await persist('POST', '/api/sms/admin/webhooks', { body: { url } })
  expect(status).toBe(201)
  return body.id
}

async function dispatch(dispatcher: Dispatcher): Promise<void> {
  await dispatcher.dispatchOnce(clock.now)
  await dispatcher.idle()
}

async function failOver(): Promise<void> {
  await server.replaceByStandby()
  await server.promote()
}

test('a cursor that passed lost events answers 410, also when their numbers are used again', async () => {
  await emit(7)
  const kept = await latest()
  await server.disconnectStandby()
  await emit(7)
  const passed = (await read(`after=${kept}`)).body.next
  expect(passed).toBe(await latest())
  await failOver()
  expect(await read(`after=${kept}`)).toMatchObject(page())
  expect(await read(`after=${passed}`)).toMatchObject(LOST)
  // The administrator creates the lost quota again: the same number, type, user and sequence.
  const again = await emit(7)
  expect(await read(`after=${passed}`)).toMatchObject(LOST)
  expect(await read(`after=${kept}`)).toMatchObject(page(again))
})

test('a restart, and a fail-over that loses nothing, keep cursors', async () => {
  const start = await latest()
  const first = await emit(8)
  const { next } = (await read(`after=${start}`)).body
  await server.restart()
  expect(await read(`after=${next}`)).toMatchObject(page())
  const second = await emit(8)
  expect(await read(`after=${next}`)).toMatchObject(page(second))
  await failOver()
  const third = await emit(8)
  expect(await read(`after=${next}`)).toMatchObject(page(second, third))
  expect(await read(`after=${start}`)).toMatchObject(page(first, second, third))
})

test('calls that wait during a fail-over answer 410 if events they passed are lost', async () => {
  await server.disconnectStandby()
  await emit(9)
  const passed = await latest()
  const waiting = ['', '&user_id=10'].map(filter => read(`after=${passed}${filter}&wait_seconds=30`))
  await expect.poll(async () => (await call('GET', '/metrics')).body).toContain('sms_quota_feed_waiting 2')
  await failOver()
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject(LOST)
})

test('a standby that has not received everything yet answers 503, not 410', async () => {
  const kept = await latest()
  await server.disconnectStandby()
  await emit(11)
  const passed = await latest()
  await server.replaceByStandby()
  await expect.poll(() => call('GET', `${EVENTS}?after=${kept}`)).toMatchObject(page())
  expect(await call('GET', `${EVENTS}?after=${passed}`)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  await server.promote()
  expect(await read(`after=${passed}`)).toMatchObject(LOST)
})

test('a page is not given if the fail-over comes between its keys and its events', async () => {
  const kept = readCursor(await latest())
  if (kept === undefined) throw new Error('the cursor is invalid')
  await server.disconnectStandby()
  await emit(10)
  let isOver = false
  const interrupting = (inner: Queryable): Queryable => ({
    async query(statement) {
      if (statement.name === 'outbox-events' && !isOver) {
        isOver = true
        await failOver()
        await expect.poll(() => reachable()).toBe(true)
      }
      return inner.query(statement)
    },
  })
  const feed = createFeed({
    ...db,
    ...interrupting(db),
    transaction: (work, mode) => db.transaction(tx => work(interrupting(tx)), mode),
  })
  const page = feed.read({ after: kept, limit: 10, waitMs: 0 }, 'ada', new AbortController().signal)
  await expect(page).rejects.toThrow(ConnectionLost)
  expect(isOver).toBe(true)
})

test('a webhook receives an event that has the number of a lost one', async () => {
  const receiver = await createReceiver()
  await createHook(receiver.url)
  await server.disconnectStandby()
  await emit(12)
  await dispatch(webhooks)
  await failOver()
  await emit(12)
  await dispatch(webhooks)
  const [lost, again] = receiver.deliveries.map(({ body }) => JSON.parse(body))
  // Numbers, ids and sequences are used again: only the time differs.
  expect(new Set(receiver.received).size).toBe(1)
  expect(again).toMatchObject({ type: 'quota.created', data: { user_id: 12, sequence: lost.data.sequence } })
  expect(Date.parse(again.timestamp)).toBe(clock.now)
  expect(Date.parse(lost.timestamp)).toBeLessThan(clock.now)
})

test('a webhook receives it also if the fail-over comes in the midst of a step', async () => {
  const receiver = await createReceiver()
  await createHook(receiver.url)
  await server.disconnectStandby()
  await emit(13)
  let isOver = false
  const interrupted: Database = {
    ...db,
    async transaction(work, mode) {
      if (!isOver && mode !== 'snapshot') {
        isOver = true
        await failOver()
        await expect.poll(() => reachable()).toBe(true)
      }
      return db.transaction(work, mode)
    },
  }
  await dispatch(createDispatcher({ keys: PLAIN, db: interrupted, now: () => clock.now, log, allowPrivate: true }))
  expect(isOver).toBe(true)
  expect(receiver.deliveries).toEqual([])
  await emit(13)
  await dispatch(webhooks)
  expect(receiver.deliveries.map(({ body }) => JSON.parse(body))).toMatchObject([{ data: { user_id: 13 } }])
})

test('the outcome of an attempt at a lost event does not count for the event that has its number', async () => {
  const id = await createHook('https://example.com/hook')
  await server.disconnectStandby()
  const claim = async () => {
    await emit(14)
    await fanOut(db, id, clock.now)
    const [claimed, ...others] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
    if (claimed === undefined || others.length > 0) throw new Error('one delivery was expected')
    return claimed
  }
  const lost = await claim()
  await failOver()
  const again = await claim()
  const attempt = { delivered: true, response_code: 204, error: null }
  const settle = (claim: Claim) => settleDeliveries(db, id, [{ claim, attempt, event: 'sent' }], clock.now, Math.random)
  expect(await settle(lost)).toEqual(['stale'])
  expect(await settle(again)).toEqual(['delivered'])
})
