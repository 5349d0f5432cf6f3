import { createServer, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { ConnectionLost, type Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { shardOfWebhook } from '../../src/db/webhooks/webhooks.ts'
import { createDispatcher, type Dispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { freshDatabase } from '../support/database.ts'
import { urlOf } from '../support/listening.ts'
import { addWebhook, PLAIN } from '../support/secrets.ts'

const { db } = await freshDatabase()
const clock = { now: Date.parse('2026-03-15T12:00:00.000Z') }
const warnings: object[] = []
const log = { info() {}, warn: (fields: object) => warnings.push(fields), error() {} }

/** A receiver that answers when the test says so. */
async function aReceiver() {
  const open: ServerResponse[] = []
  const ids: string[] = []
  let most = 0
  const server = createServer((request, response) => {
    request.resume()
    open.push(response)
    ids.push(String(request.headers['webhook-id']))
    most = Math.max(most, open.length)
  })
  const url = await urlOf(server)
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  return {
    url,
    open,
    ids,
    most: () => most,
    connections: () => connections,
    answer: (status = 204, headers = {}) => open.shift()?.writeHead(status, headers).end(),
  }
}

const aWebhook = (url: string) => addWebhook(db, { url }, clock.now)

function aDispatcher(database: Database = db, stopMs = 60_000): Dispatcher {
  return createDispatcher({
    keys: PLAIN,
    db: database,
    now: () => clock.now,
    log,
    allowPrivate: true,
    timeoutMs: 10_000,
    stopMs,
  })
}

let lastNumber = 0
/** Adds deliveries of new events that are due. Returns the events' ids. */
async function addDeliveries(webhook: number, count: number): Promise<string[]> {
  const first = lastNumber + 1
  lastNumber += count
  await db.query({
    text: sql`insert into event (shard, number, type, at, data)
      select 0, n, 'quota.updated', $3, '{}' from generate_series($1::int, $2::int) n`,
    values: [first, lastNumber, timestampParam(clock.now)],
  })
  await db.query({
    text: sql`insert into webhook_delivery (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
      select $1, $2, 0, n, 'pending', $5, $5 from generate_series($3::int, $4::int) n`,
    values: [shardOfWebhook(webhook), webhook, first, lastNumber, timestampParam(clock.now)],
  })
  return Array.from({ length: count }, (_, index) => `evt_0_${first + index}`)
}

async function statusOf(webhook: number): Promise<Record<string, number>> {
  const rows = await db.query<{ status: string; count: number }>({
    text: sql`select status, count(*) as count from webhook_delivery where webhook_id = $1 group by status`,
    values: [webhook],
  })
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

const disable = (webhook: number) =>
  db.query({ text: sql`update webhook set enabled = false where id = $1`, values: [webhook] })

test('sixteen attempts are under way, and each that ends lets the next begin', async () => {
  const receiver = await aReceiver()
  const webhook = await aWebhook(receiver.url)
  const ids = await addDeliveries(webhook, 200)
  const dispatcher = aDispatcher()
  await dispatcher.dispatchOnce(clock.now)
  await expect.poll(() => receiver.open.length).toBe(16)
  // The first of the group does not end; the others do, one by one.
  const slow = receiver.open.shift()
  for (let sent = 16; sent < 200; sent++) {
    receiver.answer()
    await expect.poll(() => receiver.ids.length, { interval: 1 }).toBe(sent + 1)
  }
  expect(receiver.most()).toBe(16)
  slow?.writeHead(204).end()
  while (receiver.open.length > 0) receiver.answer()
  await dispatcher.idle()
  expect(receiver.ids.toSorted()).toEqual(ids.toSorted())
  expect(receiver.connections()).toBeLessThanOrEqual(17)
  expect(await statusOf(webhook)).toEqual({ delivered: 200 })
  await dispatcher.finish()
  await disable(webhook)
})

test('receivers that hang, a hundred attempts or more, slow no other', async () => {
  const [hanging, well] = [await aReceiver(), await aReceiver()]
  const webhooks: number[] = []
  for (let n = 0; n < 10; n++) webhooks.push(await aWebhook(hanging.url))
  for (const webhook of webhooks) await addDeliveries(webhook, 20)
  const quick = await aWebhook(well.url)
  const ids = await addDeliveries(quick, 100)
  const dispatcher = aDispatcher()
  await dispatcher.dispatchOnce(clock.now)
  await expect.poll(() => hanging.open.length).toBe(160)
  for (let sent = 0; sent < 100; sent++) {
    await expect.poll(() => well.open.length, { interval: 1 }).toBeGreaterThan(0)
    well.answer()
  }
  await expect.poll(() => statusOf(quick)).toEqual({ delivered: 100 })
  expect(well.ids.toSorted()).toEqual(ids.toSorted())
  expect(hanging.open.length).toBe(160)
  while (hanging.open.length > 0) hanging.answer()
  await expect.poll(() => hanging.open.length).toBe(40)
  while (hanging.open.length > 0) hanging.answer()
  await dispatcher.finish()
  for (const webhook of [quick, ...webhooks]) await disable(webhook)
})

test.each([
  [503, '3600', 3_600],
  [429, '3600', 3_600],
  [503, new Date(clock.now + 7_200_000).toUTCString(), 7_200],
  [503, '1000000', 86_400],
  [503, 'soon', 4],
  [500, '3600', 4],
])(
  'after %i with Retry-After: %s the next attempt is in %i s, and no later than jitter makes it',
  async (status, header, seconds) => {
    const receiver = await aReceiver()
    const webhook = await aWebhook(receiver.url)
    await addDeliveries(webhook, 1)
    const dispatcher = aDispatcher()
    await dispatcher.dispatchOnce(clock.now)
    await expect.poll(() => receiver.open.length).toBe(1)
    receiver.answer(status, { 'retry-after': header })
    await dispatcher.idle()
    const [row] = await db.query<{ due: number; response_code: number }>({
      text: sql`select extract(epoch from next_attempt_at)::float8 * 1000 as due, response_code from webhook_delivery
      where webhook_id = $1`,
      values: [webhook],
    })
    expect(row?.response_code).toBe(status)
    const waitMs = (row?.due ?? 0) - clock.now
    expect(waitMs).toBeGreaterThanOrEqual(seconds * 1_000)
    expect(waitMs).toBeLessThanOrEqual(seconds * 1_000 + 5_000)
    await dispatcher.finish()
    await disable(webhook)
  },
)

test('an event that the database cannot read does not hold up the others', async () => {
  const receiver = await aReceiver()
  const webhook = await aWebhook(receiver.url)
  const ids = await addDeliveries(webhook, 10)
  // No safe integer: the service cannot read it.
  await db.query({
    text: sql`update event set user_id = 9223372036854775807, sequence = 1 where shard = 0 and number = $1`,
    values: [lastNumber - 5],
  })
  const dispatcher = aDispatcher()
  await dispatcher.dispatchOnce(clock.now)
  await expect.poll(() => receiver.open.length).toBe(9)
  while (receiver.open.length > 0) receiver.answer()
  await dispatcher.idle()
  expect(receiver.ids).toHaveLength(9)
  expect(receiver.ids).not.toContain(ids[4])
  const rows = await db.query({
    text: sql`select status, failures, error from webhook_delivery where webhook_id = $1 and status <> 'delivered'`,
    values: [webhook],
  })
  expect(rows).toEqual([{ status: 'pending', failures: 1, error: 'the event could not be read' }])
  await dispatcher.finish()
  await disable(webhook)
})

test('an event that is not kept any more fails its delivery alone', async () => {
  const receiver = await aReceiver()
  const webhook = await aWebhook(receiver.url)
  await addDeliveries(webhook, 3)
  await db.query({ text: sql`delete from event where shard = 0 and number = $1`, values: [lastNumber] })
  const dispatcher = aDispatcher()
  await dispatcher.dispatchOnce(clock.now)
  await expect.poll(() => receiver.open.length).toBe(2)
  while (receiver.open.length > 0) receiver.answer()
  await dispatcher.idle()
  expect(await statusOf(webhook)).toEqual({ delivered: 2, failed: 1 })
  const [row] = await db.query({ text: sql`select failing_since from webhook where id = $1`, values: [webhook] })
  expect(row).toEqual({ failing_since: null })
  await dispatcher.finish()
  await disable(webhook)
})

test('outcomes that cannot be written are kept, and written when the database is back', async () => {
  const receiver = await aReceiver()
  const webhook = await aWebhook(receiver.url)
  await addDeliveries(webhook, 3)
  let isAway = false
  const failing: Database = {
    ...db,
    transaction: (work, mode) =>
      isAway ? Promise.reject(new ConnectionLost('lost', new Error('reset'))) : db.transaction(work, mode),
  }
  const dispatcher = aDispatcher(failing)
  await dispatcher.dispatchOnce(clock.now)
  await expect.poll(() => receiver.open.length).toBe(3)
  isAway = true
  while (receiver.open.length > 0) receiver.answer()
  await dispatcher.idle()
  expect(warnings).toContainEqual({ reason: 'ConnectionLost: lost: reset', webhook })
  expect(await statusOf(webhook)).toEqual({ pending: 3 })
  isAway = false
  await addDeliveries(webhook, 1)
  await dispatcher.dispatchOnce(clock.now)
  await expect.poll(() => receiver.open.length).toBe(1)
  receiver.answer()
  await dispatcher.idle()
  expect(await statusOf(webhook)).toEqual({ delivered: 4 })
  expect(receiver.ids).toHaveLength(4)
  await dispatcher.finish()
  await disable(webhook)
})

test('what was claimed ahead of a receiver that hangs is given back before its lease ends', async () => {
  const receiver = await aReceiver()
  const webhook = await aWebhook(receiver.url)
  await addDeliveries(webhook, 20)
  const [dispatcher, other] = [aDispatcher(), aDispatcher()]
  await dispatcher.dispatchOnce(clock.now)
  await expect.poll(() => receiver.open.length).toBe(16)
  clock.now += 10_001
  receiver.answer(500)
  const due = sql`select 1 from webhook_delivery where webhook_id = $1 and attempts = 1 and next_attempt_at <= $2`
  await expect
    .poll(async () => (await db.query({ text: due, values: [webhook, timestampParam(clock.now)] })).length)
    .toBe(4)
  await other.dispatchOnce(clock.now)
  await expect.poll(() => receiver.ids.length).toBe(20)
  while (receiver.open.length > 0) receiver.answer()
  await Promise.all([dispatcher.finish(), other.finish()])
  expect(await statusOf(webhook)).toEqual({ delivered: 19, pending: 1 })
  await disable(webhook)
})

test('a stop gives back what was claimed ahead at once, and what was aborted', async () => {
  const receiver = await aReceiver()
  const webhook = await aWebhook(receiver.url)
  await addDeliveries(webhook, 40)
  const dispatcher = aDispatcher(db, 300)
  const stopping = new AbortController()
  await dispatcher.dispatchOnce(clock.now, stopping.signal)
  await expect.poll(() => receiver.open.length).toBe(16)
  stopping.abort()
  receiver.answer()
  await dispatcher.finish()
  expect(receiver.ids).toHaveLength(16)
  expect(await statusOf(webhook)).toEqual({ delivered: 1, pending: 39 })
  const rows = await db.query({
    text: sql`select 1 from webhook_delivery where webhook_id = $1 and status = 'pending' and next_attempt_at > $2`,
    values: [webhook, timestampParam(clock.now)],
  })
  expect(rows).toEqual([])
  await disable(webhook)
})
