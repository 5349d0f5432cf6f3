/** Administrators' changes of webhooks, and how an attempt settles a delivery, on a real database. */
import { expect, test } from 'vitest'
import { createWebhook, disableWebhook, rotateSecret, updateWebhook } from '../../src/admin/webhooks.ts'
import { claimDeliveries, fanOut } from '../../src/db/deliveries.ts'
import { listDeliveries } from '../../src/db/delivery-lists.ts'
import { findWebhook } from '../../src/db/webhooks.ts'
import { ROTATION_OVERLAP_MS } from '../../src/domain/webhook.ts'
import { settleDelivery } from '../../src/events/settle-delivery.ts'
import { createBench, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const FAILURE = { delivered: false, response_code: 500, error: 'the answer was not a 2xx' }
const SECRET = new Uint8Array(24)

async function aWebhook() {
  const webhook = await createWebhook(db, { url: 'https://example.com/hook' }, SECRET, bench.author())
  if (webhook === undefined) throw new Error('there are too many webhooks')
  return webhook
}

/** A webhook with one delivery, which this process has claimed. */
async function aClaim() {
  const { id } = await aWebhook()
  await bench.quota({ user_id: someone() })
  await fanOut(db, id, clock.now)
  const [claim, ...others] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
  if (claim === undefined || others.length > 0) throw new Error('one delivery was expected')
  return { id, claim }
}

const eventsOf = (id: number) =>
  db.query({ text: `select type from event where data -> 'webhook' ->> 'id' = $1`, values: [String(id)] })

test('a created webhook is the stored one', async () => {
  const webhook = await aWebhook()
  expect(await findWebhook(db, webhook.id)).toEqual({ ...webhook, secret: Buffer.from(SECRET) })
})

test('a rotation keeps the secret before for its overlap', async () => {
  const { id } = await aWebhook()
  const secret = new Uint8Array(24).fill(1)
  const rotated = await rotateSecret(db, id, secret, bench.author())
  expect(rotated).toMatchObject({ secret, previous_until: clock.now + ROTATION_OVERLAP_MS })
  expect(await findWebhook(db, id)).toMatchObject({ secret: Buffer.from(secret), previous_secret: Buffer.from(SECRET) })
  expect(await rotateSecret(db, id + 64_000, secret, bench.author())).toBeUndefined()
})

test('a webhook is disabled once, with one event', async () => {
  const { id } = await aWebhook()
  for (const reason of ['failing', 'gone'] as const) {
    await db.transaction(tx => disableWebhook(tx, id, reason, clock.now))
  }
  expect(await findWebhook(db, id)).toMatchObject({ enabled: false, disabled_reason: 'failing' })
  expect(await eventsOf(id)).toEqual([{ type: 'webhook.disabled' }])
})

test('a webhook that is enabled again attempts its pending deliveries at once', async () => {
  const { id, claim } = await aClaim()
  expect(await settleDelivery(db, id, claim, FAILURE, clock.now, 0.5)).toBe('retried')
  await updateWebhook(db, id, { enabled: false }, bench.author())
  const enabled = await updateWebhook(db, id, { enabled: true }, bench.author())
  expect(enabled).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null })
  expect((await listDeliveries(db, id, { limit: 10 })).deliveries).toMatchObject([{ next_attempt_at: clock.now }])
})

test('an outcome is written once: a claim that another process has taken over is stale', async () => {
  const { id, claim } = await aClaim()
  clock.now += 15_001
  const [later] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
  expect(later?.attempts).toBe(claim.attempts + 1)
  expect(await settleDelivery(db, id, claim, FAILURE, clock.now, 0.5)).toBe('stale')
})

test('the first failure is noted at the webhook, and the next success takes it back', async () => {
  const { id, claim } = await aClaim()
  await settleDelivery(db, id, claim, FAILURE, clock.now, 0.5)
  expect(await findWebhook(db, id)).toMatchObject({ failing_since: clock.now })
  clock.now += 24 * 3_600_000
  const [again] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
  if (again === undefined) throw new Error('a delivery was expected to be due')
  const success = { delivered: true, response_code: 204, error: null }
  expect(await settleDelivery(db, id, again, success, clock.now, 0.5)).toBe('delivered')
  expect(await findWebhook(db, id)).toMatchObject({ failing_since: null, enabled: true })
})

test('410 Gone disables the webhook at once', async () => {
  const { id, claim } = await aClaim()
  const gone = { ...FAILURE, response_code: 410 }
  expect(await settleDelivery(db, id, claim, gone, clock.now, 0.5)).toBe('failed')
  expect(await findWebhook(db, id)).toMatchObject({ enabled: false, disabled_reason: 'gone' })
  expect(await eventsOf(id)).toEqual([{ type: 'webhook.disabled' }])
})
