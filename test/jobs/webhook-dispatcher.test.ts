import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { redeliverSince } from '../../src/db/webhooks/delivery-lists.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { createDispatcher, STOP_MS } from '../../src/jobs/webhook-dispatcher.ts'
import { createWebhookRetention } from '../../src/jobs/webhook-retention.ts'
import { createReceiver, type Delivery, type Receiver } from '../support/receiver.ts'
import { PLAIN } from '../support/secrets.ts'
import { startService } from '../support/service.ts'

const TIMEOUT_MS = 300
const service = await startService({ webhooks: { allowPrivate: true, timeoutMs: TIMEOUT_MS } })
const { call, clock, webhooks, db } = service
// The oracle compares timestamps with the machine's clock.
clock.now = Date.now()
const WEBHOOKS = '/api/sms/admin/webhooks'
const [MINUTE, HOUR, DAY] = [60_000, HOUR_MS, DAY_MS]

interface Hook {
  path: string
  id: number
  secret: string
  receiver: Receiver
}

async function hook(body: object = {}): Promise<Hook> {
  const receiver = await createReceiver()
  const answer = await call('POST', WEBHOOKS, { body: { url: receiver.url, ...body } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  const { id, secret } = answer.body
  return { id, secret, receiver, path: `${WEBHOOKS}/${id}` }
}

/** Sends everything that is due now. Attempts at receivers that do not answer time out. */
async function dispatch(): Promise<void> {
  await webhooks.dispatchOnce(clock.now)
  await webhooks.idle()
}

/** Moves the clock on in steps, and dispatches after each. */
async function pass(ms: number, step = MINUTE): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    clock.now += step
    await dispatch()
  }
}

let lastUser = 0
/** Makes an event. Resolves to its id in the feed. */
async function makeEvent(): Promise<string> {
  lastUser += 1
  await call('POST', '/api/sms/admin/quota', { body: { user_id: lastUser, limit: 10 } })
  const { body } = await call('GET', `/api/sms/admin/events?user_id=${lastUser}`)
  return body.items[0].id
}
const makeEvents = async (count: number) => {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await makeEvent())
  return ids
}

const verify = (secret: string, { body, headers }: Delivery) => new Webhook(secret).verify(body, headers)
const first = ({ receiver }: Hook): Delivery => {
  const [delivery] = receiver.deliveries
  if (delivery === undefined) throw new Error('nothing was delivered')
  return delivery
}
const deliveriesOf = async ({ path }: Hook, query = '') => (await call('GET', `${path}/deliveries${query}`)).body.items
const drop = ({ path }: Hook) => call('DELETE', path)

test('an event is delivered once, signed as Standard Webhooks define', async () => {
  await makeEvent()
  const to = await hook()
  const id = await makeEvent()
  await dispatch()
  await dispatch()
  expect(to.receiver.received).toEqual([id])
  const delivery = first(to)
  expect(delivery.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': id })
  expect(verify(to.secret, delivery)).toMatchObject({
    type: 'quota.created',
    timestamp: new Date(clock.now).toISOString(),
    data: { user_id: lastUser, sequence: 1, quota: { user_id: lastUser, limit: 10 } },
  })
  expect(() => verify(to.secret, { ...delivery, body: delivery.body.replace('10', '11') })).toThrow()
  expect(await deliveriesOf(to)).toMatchObject([
    {
      id,
      type: 'quota.created',
      status: 'delivered',
      attempts: 1,
      response_code: 204,
      next_attempt_at: null,
      error: null,
    },
  ])
  await drop(to)
})

test('during a rotation, the old and the new secret sign', async () => {
  const to = await hook()
  const rotated = await call('POST', `${to.path}/rotate-secret`)
  await makeEvent()
  await dispatch()
  const both = first(to)
  expect(both.headers['webhook-signature']?.split(' ')).toHaveLength(2)
  verify(to.secret, both)
  verify(rotated.body.secret, both)
  const other = `whsec_${Buffer.alloc(32).toString('base64')}`
  expect(() => verify(other, both)).toThrow()

  clock.now += DAY
  await makeEvent()
  await dispatch()
  const [, one] = to.receiver.deliveries
  expect(one?.headers['webhook-signature']?.split(' ')).toHaveLength(1)
  clock.now -= DAY
  await drop(to)
})

test('a webhook gets only the types that it subscribes to', async () => {
  const [created, updated] = [await hook({ types: ['quota.created'] }), await hook({ types: ['quota.updated'] })]
  const { body } = await call('POST', '/api/sms/admin/quota', { body: { user_id: 9_000, limit: 10 } })
  await call('PUT', `/api/sms/admin/quota/${body.id}`, { body: { limit: 20 } })
  await dispatch()
  const types = ({ receiver }: Hook) => receiver.deliveries.map(delivery => JSON.parse(delivery.body).type)
  expect([types(created), types(updated)]).toEqual([['quota.created'], ['quota.updated']])
  await drop(created)
  await drop(updated)
})

test('a receiver that fails for an hour gets everything afterwards, and delays no other', async () => {
  const [failing, well] = [await hook(), await hook()]
  failing.receiver.answer = 500
  const ids: string[] = []
  for (let minute = 0; minute < 60; minute += 10) {
    ids.push(...(await makeEvents(2)))
    await dispatch()
    expect(well.receiver.received).toEqual(expect.arrayContaining(ids))
    await pass(10 * MINUTE, 2 * MINUTE)
  }
  expect(failing.receiver.received).toEqual([])
  expect((await call('GET', failing.path)).body).toMatchObject({ enabled: true, failing_since: expect.any(String) })
  expect((await deliveriesOf(failing))[0]).toMatchObject({ status: 'pending', response_code: 500 })

  failing.receiver.answer = 200
  await pass(4 * HOUR, 20 * MINUTE)
  expect(failing.receiver.received.toSorted()).toEqual(ids.toSorted())
  expect(well.receiver.received.toSorted()).toEqual(ids.toSorted())
  expect((await call('GET', failing.path)).body).toMatchObject({ enabled: true, failing_since: null })
  await drop(failing)
  await drop(well)
})

test('a receiver that hangs delays no other, and is tried again', async () => {
  const [hanging, well] = [await hook(), await hook()]
  hanging.receiver.answer = 'hang'
  const ids = await makeEvents(10)
  await webhooks.dispatchOnce(clock.now)
  await expect.poll(() => well.receiver.received.length, { interval: 5 }).toBe(10)
  // All ten deliveries to the receiver that hangs are still pending.
  expect((await deliveriesOf(hanging, '?status=pending')).length).toBe(10)
  await webhooks.idle()
  const [delivery] = await deliveriesOf(hanging)
  expect(delivery).toMatchObject({
    status: 'pending',
    attempts: 1,
    response_code: null,
    error: 'no answer within 0.3 s',
  })
  hanging.receiver.answer = 200
  await pass(MINUTE)
  expect(hanging.receiver.received.toSorted()).toEqual(ids.toSorted())
  await drop(hanging)
  await drop(well)
})

test('a redirect is not followed, and does not count as delivered', async () => {
  const to = await hook()
  to.receiver.answer = 307
  await makeEvent()
  await dispatch()
  expect(to.receiver.deliveries).toHaveLength(1)
  expect(await deliveriesOf(to)).toMatchObject([
    { status: 'pending', response_code: 307, error: 'the answer was not a 2xx' },
  ])
  await drop(to)
})

test('after three days of failures a webhook is disabled, which emits an event; enabled again, it gets what it missed', async () => {
  const [dead, well] = [await hook(), await hook({ types: ['webhook.disabled'] })]
  dead.receiver.answer = 503
  const lost = await makeEvent()
  await pass(2 * DAY, 4 * HOUR)
  const kept = await makeEvent()
  await pass(DAY + 8 * HOUR, 4 * HOUR)
  expect((await call('GET', dead.path)).body).toMatchObject({ enabled: false, disabled_reason: 'failing' })
  expect(well.receiver.deliveries.map(({ body }) => JSON.parse(body))).toMatchObject([
    { type: 'webhook.disabled', data: { user_id: null, webhook: { id: dead.id, disabled_reason: 'failing' } } },
  ])
  expect(well.receiver.deliveries[0]?.body).not.toContain(dead.receiver.url)
  const feed = await call('GET', '/api/sms/admin/events?types=webhook.disabled')
  expect(feed.body.items).toMatchObject([{ user_id: null, sequence: null, data: { webhook: { id: dead.id } } }])

  const attempts = dead.receiver.deliveries.length
  const later = await makeEvent()
  await pass(DAY, 4 * HOUR)
  expect(dead.receiver.deliveries.length).toBe(attempts)

  dead.receiver.answer = 200
  expect((await call('PUT', dead.path, { body: { enabled: true } })).body).toMatchObject({ disabled_reason: null })
  await dispatch()
  expect(dead.receiver.received).toEqual(expect.arrayContaining([kept, later]))
  // Failed deliveries are sent again on demand.
  expect((await call('GET', `${dead.path}/deliveries/${lost}`)).body).toMatchObject({
    id: lost,
    status: 'failed',
    payload: { type: 'quota.created', timestamp: expect.any(String), data: { sequence: 1, quota: { limit: 10 } } },
  })
  const redeliverFailed = (since: number) =>
    call('POST', `${dead.path}/redeliver`, { body: { since: new Date(since).toISOString(), status: 'failed' } })
  expect((await redeliverFailed(clock.now)).body).toEqual({ redelivered: 0 })
  expect(await deliveriesOf(dead, '?status=failed')).toMatchObject([{ id: lost, status: 'failed' }])
  expect((await redeliverFailed(clock.now - 7 * DAY)).body).toEqual({ redelivered: 1 })
  await dispatch()
  expect(dead.receiver.received.filter(id => id === lost)).toHaveLength(1)
  expect((await call('POST', `${dead.path}/deliveries/${lost}/redeliver`)).body).toEqual({ redelivered: 1 })
  await dispatch()
  expect(dead.receiver.received.filter(id => id === lost)).toHaveLength(2)
  await drop(dead)
  await drop(well)
})

test('a webhook whose receiver answers 410 is disabled at once', async () => {
  const to = await hook({ types: ['quota.created'] })
  to.receiver.answer = 410
  await makeEvent()
  await dispatch()
  expect((await call('GET', to.path)).body).toMatchObject({ enabled: false, disabled_reason: 'gone' })
  await drop(to)
})

test('everything since a timestamp is sent again, including events from before the webhook', async () => {
  clock.now += HOUR
  const before = await makeEvent()
  clock.now += HOUR
  const since = clock.now
  const ids = await makeEvents(2)
  const to = await hook({ types: ['quota.created'] })
  ids.push(await makeEvent())
  await dispatch()
  expect(to.receiver.received).toEqual(ids.slice(2))
  const at = new Date(since).toISOString()
  expect((await call('POST', `${to.path}/redeliver`, { body: { since: at } })).body).toEqual({ redelivered: 3 })
  await dispatch()
  expect(to.receiver.received.toSorted()).toEqual([...ids, ids[2]].toSorted())
  expect(to.receiver.received).not.toContain(before)
  await drop(to)
})

test('redelivery in steps skips nothing and repeats nothing', async () => {
  clock.now += HOUR
  lastUser += 1
  // Events of one user are in one shard, with consecutive numbers.
  for (let n = 0; n < 5; n++) {
    await call('POST', '/api/sms/admin/quota', { body: { user_id: lastUser, limit: 10 } })
  }
  const to = await hook()
  expect(await redeliverSince(db, to.id, clock.now, clock.now, 'all', 2)).toBe(5)
  await dispatch()
  expect(to.receiver.received).toHaveLength(5)
  expect(new Set(to.receiver.received).size).toBe(5)
  await drop(to)
  expect(await redeliverSince(db, to.id, clock.now, clock.now)).toBe(undefined)
})

test('a test event is sent at once, and its result is answered', async () => {
  const to = await hook({ enabled: false })
  expect(await call('POST', `${to.path}/test`)).toMatchObject({
    status: 200,
    body: { delivered: true, response_code: 204, error: null },
  })
  const { headers, body } = first(to)
  expect(headers['webhook-id']).toMatch(/^evt_test_/)
  expect(JSON.parse(body)).toMatchObject({ type: 'webhook.test', data: { webhook: { id: to.id } } })
  to.receiver.answer = 'hang'
  expect((await call('POST', `${to.path}/test`)).body).toEqual({
    delivered: false,
    response_code: null,
    error: 'no answer within 0.3 s',
    answer: null,
  })
  await drop(to)
})

test('many processes deliver each event once', async () => {
  const to = await hook()
  const log = { info() {}, warn() {}, error() {} }
  const others = [1, 2, 3].map(() =>
    createDispatcher({ keys: PLAIN, db, now: () => clock.now, log, allowPrivate: true }),
  )
  const ids = await makeEvents(30)
  await Promise.all([webhooks, ...others].map(one => one.dispatchOnce(clock.now)))
  await Promise.all([webhooks, ...others].map(one => one.idle()))
  await dispatch()
  expect(to.receiver.received.toSorted()).toEqual(ids.toSorted())
  await Promise.all(others.map(one => one.finish()))
  await drop(to)
})

test('a delivery that another process holds is skipped, and delays no other', async () => {
  const to = await hook()
  to.receiver.answer = 500
  const ids = await makeEvents(2)
  await dispatch()
  to.receiver.answer = 200
  await db.transaction(async tx => {
    const text = sql`select 1 from webhook_delivery where webhook_id = $1 order by event_shard, number limit 1 for update`
    await tx.query({ text, values: [to.id] })
    await pass(10 * MINUTE)
    expect(to.receiver.received).toHaveLength(1)
  })
  await dispatch()
  expect(to.receiver.received.toSorted()).toEqual(ids.toSorted())
  await drop(to)
})

test('an attempt that its process never finished is made again after its lease', async () => {
  const to = await hook()
  to.receiver.answer = 'hang'
  const log = { info() {}, warn() {}, error() {} }
  const dying = createDispatcher({ keys: PLAIN, db, now: () => clock.now, log, allowPrivate: true, stopMs: 100 })
  const id = await makeEvent()
  await dying.dispatchOnce(clock.now)
  await expect.poll(() => to.receiver.deliveries.length).toBe(1)
  to.receiver.answer = 200
  await dispatch()
  expect(to.receiver.received).toEqual([])
  clock.now += 25_000
  await dispatch()
  expect(to.receiver.received).toEqual([id])
  // The late result of the first attempt changes nothing.
  await dying.finish()
  expect(await deliveriesOf(to)).toMatchObject([{ status: 'delivered', attempts: 2 }])
  await drop(to)
})

test('finish aborts attempts that hang, and they are due at once', async () => {
  const to = await hook()
  to.receiver.answer = 'hang'
  const log = { info() {}, warn() {}, error() {} }
  // The process waits ten seconds for all its parts.
  expect(STOP_MS).toBe(2_000)
  const stopping = createDispatcher({ keys: PLAIN, db, now: () => clock.now, log, allowPrivate: true, stopMs: 100 })
  const id = await makeEvent()
  await stopping.dispatchOnce(clock.now)
  await expect.poll(() => to.receiver.deliveries.length).toBe(1)
  await stopping.finish()
  to.receiver.answer = 200
  await dispatch()
  expect(to.receiver.received).toEqual([id])
  await drop(to)
})

test('metrics count how deliveries end and how many wait, without naming users', async () => {
  clock.now += MINUTE
  await dispatch()
  const { body } = await call('GET', '/metrics', { token: null })
  expect(body).toMatch(/sms_quota_webhook_attempts_total\{outcome="delivered"\} \d+/)
  expect(body).toMatch(/sms_quota_webhook_attempts_total\{outcome="retried"\} \d+/)
  expect(body).toMatch(/sms_quota_webhook_pending 0/)
})

test('deliveries that ended long ago are removed', async () => {
  const to = await hook()
  await makeEvent()
  await dispatch()
  expect(await deliveriesOf(to)).toHaveLength(1)
  clock.now += 36 * DAY
  expect(await createWebhookRetention({ db, now: () => clock.now }).removeOnce(clock.now)).toMatchObject({
    isBehind: false,
  })
  expect(await deliveriesOf(to)).toHaveLength(0)
  await drop(to)
})

test('what a clock that was ahead has planned is taken back: attempts go on, and give up after three days', async () => {
  const { path, receiver } = await hook()
  receiver.answer = 500
  const id = await makeEvent()
  clock.now += 400 * DAY
  await dispatch()
  expect(receiver.deliveries).toHaveLength(1)
  const { secret } = (await call('POST', `${path}/rotate-secret`)).body
  await call('PUT', path, { body: { enabled: false } })
  await call('PUT', path, { body: { enabled: true } })
  clock.now -= 400 * DAY
  await dispatch()
  await pass(MINUTE, 10_000)
  expect(receiver.deliveries.length).toBeGreaterThan(1)
  const shown = (await call('GET', path)).body
  expect(Date.parse(shown.failing_since)).toBeLessThanOrEqual(clock.now)
  expect(Date.parse(shown.previous_until)).toBeLessThanOrEqual(clock.now + DAY)
  expect(secret).toBeDefined()
  await pass(4 * DAY, 4 * HOUR)
  expect((await call('GET', `${path}/deliveries/${id}`)).body).toMatchObject({ status: 'failed' })
  expect((await call('GET', path)).body).toMatchObject({ enabled: false, disabled_reason: 'failing' })
})
