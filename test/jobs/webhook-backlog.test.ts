/** A webhook with many pages of pending deliveries is enabled again, and deleted: at once, and then page by page. */
import { afterAll, expect, test } from 'vitest'
import { updateWebhook } from '../../src/admin/webhooks/webhooks.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { timestampParam } from '../../src/db/connection/values.ts'
import { claimDeliveries, findBusyWebhooks, readPending } from '../../src/db/webhooks/deliveries.ts'
import { shardOfWebhook } from '../../src/db/webhooks/webhooks.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { createDispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { createWebhookRetention } from '../../src/jobs/webhook-retention.ts'
import { distributeBeside } from '../support/citus.ts'
import { createReceiver } from '../support/receiver.ts'
import { addWebhook, PLAIN } from '../support/secrets.ts'
import { startService } from '../support/service.ts'
import { rawSql } from '../support/sql.ts'

const BACKLOG = 6_001
/** Deliveries of a page that restarts a webhook. */
const RESTART_PAGE = 1_000
const service = await startService({ webhooks: { allowPrivate: true } })
const { call, clock } = service
/** Adds and counts rows: longer than the service allows. */
const db = openDatabase({ url: service.databaseUrl, statementTimeout: 0, connectTimeout: 60_000 })
const WEBHOOKS = '/api/sms/admin/webhooks'
/** Far less than the service allows, and enough for a page on a busy machine. */
const hurried = openDatabase({ url: service.databaseUrl, statementTimeout: 400 })
afterAll(async () => {
  await hurried.close()
  await db.close()
})
const log = { info() {}, warn() {}, error() {} }
const author = () => ({ now: clock.now, actor: 'ada', requestId: 'test' })

const aWebhook = (url = 'http://127.0.0.1:1/') => addWebhook(db, { url }, clock.now)

interface Rows {
  count: number
  status?: string
  /** Milliseconds from now. */
  nextAttempt?: number
  created?: number
}

/** Adds deliveries whose series began an hour ago, with three failures each, spread over four hours if they are pending. */
async function addDeliveries(
  id: number,
  { count, status = 'pending', created = 0, nextAttempt = 0 }: Rows,
): Promise<void> {
  await db.query({
    text: sql`insert into webhook_delivery (shard, webhook_id, event_shard, number, status, attempts, failures, began_at,
        next_attempt_at, last_attempt_at, created_at)
      select $1, $2, n % 64, n, $4, 3, 3, $5::timestamptz - interval '1 hour',
        case when $4 = 'pending' then $6::timestamptz + n * $8 * interval '1 ms' end, $5, $7
      from (select coalesce(max(number), 0) as last from webhook_delivery where webhook_id = $2) known,
        generate_series(last + 1, last + $3::int) n`,
    values: [
      shardOfWebhook(id),
      id,
      count,
      status,
      timestampParam(clock.now),
      timestampParam(clock.now + nextAttempt),
      timestampParam(clock.now + created),
      nextAttempt === 0 ? Math.floor((4 * HOUR_MS) / count) : 0,
    ],
  })
}

async function count(id: number, where = 'true'): Promise<number> {
  const [row] = await db.query<{ count: number }>({
    text: rawSql`select count(*) as count from webhook_delivery where webhook_id = $1 and ${where}`,
    values: [id],
  })
  return row?.count ?? 0
}

const retention = () => createWebhookRetention({ db, now: () => clock.now })

test('it is enabled again at once, and all its deliveries are due soon', async () => {
  const id = await aWebhook()
  await updateWebhook(db, id, { enabled: false }, author())
  await addDeliveries(id, { count: BACKLOG })
  await db.query({
    text: sql`insert into event (shard, number, type, at, data)
      select event_shard, number, 'quota.updated', created_at, '{}' from webhook_delivery where webhook_id = $1`,
    values: [id],
  })
  clock.now += 1_000
  const enabled = await updateWebhook(hurried, id, { enabled: true }, author())
  expect(enabled).toMatchObject({ enabled: true, failing_since: null })
  const due = `next_attempt_at <= '${timestampParam(clock.now)}'`
  expect(await count(id, due)).toBeLessThan(BACKLOG / 100)

  const dispatcher = createDispatcher({ keys: PLAIN, db: hurried, now: () => clock.now, log, allowPrivate: true })
  const [busy] = await findBusyWebhooks(db, clock.now)
  expect(busy).toMatchObject({ id, is_restarting: true })
  let steps = 1
  // A page that takes too long on a busy machine is halved.
  while ((await dispatcher.dispatchOnce(clock.now).catch(() => ({ isBehind: true }))).isBehind) steps += 1
  expect(steps).toBeGreaterThanOrEqual(BACKLOG / RESTART_PAGE)
  await dispatcher.idle()
  // All but the attempts that failed meanwhile.
  expect(await count(id, due)).toBeGreaterThan(BACKLOG - 2_000)
  expect(await findBusyWebhooks(db, clock.now)).toMatchObject([{ id, is_restarting: false }])
  const [claim] = await claimDeliveries(db, id, clock.now, clock.now + 1_000, 1)
  expect(claim).toMatchObject({ began_at: clock.now })
  await dispatcher.finish()
  await call('DELETE', `${WEBHOOKS}/${id}`)
  await drain(id)
  await db.query({ text: sql`delete from event` })
})

async function drain(id: number): Promise<number> {
  const job = retention()
  let steps = 1
  while ((await job.removeOnce(clock.now).catch(() => ({ isBehind: true }))).isBehind) steps += 1
  expect(await count(id)).toBe(0)
  return steps
}

test('it is deleted at once: hidden, not counted, and removed in pages', async () => {
  const id = await aWebhook()
  await addDeliveries(id, { count: BACKLOG })
  await Promise.all(Array.from({ length: 99 }, () => aWebhook()))
  const full = await call('POST', WEBHOOKS, { body: { url: 'http://127.0.0.1:1/' } })
  expect(full).toMatchObject({ status: 422, body: { code: 'too_many_webhooks' } })

  expect(await call('DELETE', `${WEBHOOKS}/${id}`)).toMatchObject({ status: 204 })
  for (const path of ['', '/deliveries']) expect((await call('GET', `${WEBHOOKS}/${id}${path}`)).status).toBe(404)
  expect((await call('DELETE', `${WEBHOOKS}/${id}`)).status).toBe(404)
  expect((await call('POST', `${WEBHOOKS}/${id}/deliveries/evt_1_1/redeliver`)).status).toBe(404)
  expect((await call('POST', `${WEBHOOKS}/${id}/redeliver`, { body: { since: '2026-01-01T00:00:00Z' } })).status).toBe(
    404,
  )
  expect((await call('GET', WEBHOOKS)).body.items).toHaveLength(99)
  expect((await findBusyWebhooks(db, clock.now)).map(webhook => webhook.id)).not.toContain(id)
  expect(await readPending(db)).toEqual({ count: 0, oldest: null, next_due: null })
  expect((await call('POST', WEBHOOKS, { body: { url: 'http://127.0.0.1:1/' } })).status).toBe(201)

  expect(await drain(id)).toBeGreaterThan(BACKLOG / 2_000)
  expect(await db.query({ text: sql`select 1 from webhook where id = $1`, values: [id] })).toEqual([])
  expect(await db.query({ text: sql`select 1 from webhook_cursor where webhook_id = $1`, values: [id] })).toEqual([])
  await db.query({ text: sql`delete from webhook where id <> $1`, values: [id] })
})

test('a delivery that is written while its webhook is removed is removed too', async () => {
  const id = await aWebhook()
  await addDeliveries(id, { count: 5_000 })
  await call('DELETE', `${WEBHOOKS}/${id}`)
  const job = retention()
  expect(await job.removeOnce(clock.now)).toMatchObject({ isBehind: true })
  expect(await job.removeOnce(clock.now)).toMatchObject({ isBehind: true })
  // Shard 0, number 64: behind the point that is reached.
  await db.query({
    text: sql`insert into webhook_delivery (shard, webhook_id, event_shard, number, status, next_attempt_at, created_at)
      values ($1, $2, 0, 64, 'pending', $3, $3)`,
    values: [shardOfWebhook(id), id, timestampParam(clock.now)],
  })
  expect(await job.removeOnce(clock.now)).toMatchObject({ isBehind: true })
  expect(await job.removeOnce(clock.now)).toMatchObject({ isBehind: false })
  expect(await count(id)).toBe(0)
  expect(await db.query({ text: sql`select 1 from webhook where id = $1`, values: [id] })).toEqual([])
})

test('ended deliveries of disabled webhooks are removed too, in pages past those that are pending', async () => {
  const ids = [await aWebhook(), await aWebhook()]
  for (const id of ids) {
    await updateWebhook(db, id, { enabled: false }, author())
    await addDeliveries(id, { count: 5_000, created: -40 * DAY_MS })
    for (const status of ['delivered', 'failed']) {
      await addDeliveries(id, { count: 5_000, status, created: -36 * DAY_MS })
    }
    await addDeliveries(id, { count: 10, status: 'delivered', created: -34 * DAY_MS })
  }
  const job = retention()
  let steps = 1
  while ((await job.removeOnce(clock.now)).isBehind) steps += 1
  expect(steps).toBe(15_000 / 2_000 + 0.5)
  for (const id of ids) expect([await count(id), await count(id, `status = 'pending'`)]).toEqual([5_010, 5_000])
  // One that ends later is found a day later.
  await db.query({
    text: sql`update webhook_delivery set status = 'failed', next_attempt_at = null where webhook_id = $1`,
    values: [ids[0] ?? 0],
  })
  await job.removeOnce(clock.now)
  expect(await count(ids[0] ?? 0)).toBe(5_010)
  clock.now += DAY_MS - 1
  await job.removeOnce(clock.now)
  clock.now += 1
  while ((await job.removeOnce(clock.now)).isBehind) steps += 1
  expect(await count(ids[0] ?? 0)).toBeLessThanOrEqual(10)
  for (const id of ids) await call('DELETE', `${WEBHOOKS}/${id}`)
  while ((await job.removeOnce(clock.now)).isBehind) steps += 1
})

test('a webhook whose deliveries cannot be removed does not hold up the others', async () => {
  const [poisonous, well] = [await aWebhook(), await aWebhook()]
  for (const id of [poisonous, well]) await addDeliveries(id, { count: 10, status: 'delivered', created: -36 * DAY_MS })
  await db.query({
    text: sql`create table poison (shard smallint, webhook_id bigint, event_shard smallint, number bigint,
      foreign key (shard, webhook_id, event_shard, number) references webhook_delivery)`,
  })
  await distributeBeside(db, 'poison')
  await db.query({
    text: sql`insert into poison select shard, webhook_id, event_shard, number from webhook_delivery
      where webhook_id = $1 limit 1`,
    values: [poisonous],
  })
  await expect(retention().removeOnce(clock.now)).rejects.toThrow('1 failed, the first')
  expect(await count(well)).toBe(0)
  expect(await count(poisonous)).toBe(10)
  await db.query({ text: sql`drop table poison` })
  for (const id of [poisonous, well]) await call('DELETE', `${WEBHOOKS}/${id}`)
})

test('a receiver that is down costs few attempts, and gets its backlog when it is back', async () => {
  const receiver = await createReceiver()
  receiver.answer = 500
  const id = await aWebhook(receiver.url)
  for (let user = 0; user < 100; user++) {
    await call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 1 } })
  }
  const step = async () => {
    await service.webhooks.dispatchOnce(clock.now)
    await service.webhooks.idle()
  }
  await step()
  const first = receiver.deliveries.length
  // What was claimed before the first failure, and four more.
  expect(first).toBeLessThanOrEqual(68)
  await step()
  expect(receiver.deliveries.length).toBe(first + 4)
  receiver.answer = 204
  await step()
  expect(receiver.received).toHaveLength(100 - first - 4)
  await call('DELETE', `${WEBHOOKS}/${id}`)
})
