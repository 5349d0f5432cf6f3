/** The event feed and webhooks across restarts of the database, and fail-overs that come between two steps. */
import { expect, test } from 'vitest'
import { ConnectionLost, type Database, type Queryable, type Transaction } from '../../src/db/connection/database.ts'
import { readCursor } from '../../src/events/cursor.ts'
import { createFeed } from '../../src/events/feed.ts'
import { createDispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { createReceiver } from '../support/receiver.ts'
import { PLAIN } from '../support/secrets.ts'
import { EVENTS, LOST, page, startFailoverService } from './failover-fixture.ts'

const log = { info() {}, warn() {}, error() {} }
const service = await startFailoverService()
const { server, call, clock, db, webhooks, read, latest, emit, createHook, dispatch, failOver, reachable } = service

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
  const interrupting = (inner: Queryable): Transaction => ({
    isCluster: false,
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
