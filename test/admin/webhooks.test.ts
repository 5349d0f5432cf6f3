/** Administrators' changes of webhooks, and how an attempt settles a delivery, on a real database. */
import { expect, test } from 'vitest'
import {
  createWebhook,
  deleteWebhook,
  disableWebhook,
  rotateSecret,
  updateWebhook,
} from '../../src/admin/webhooks/webhooks.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { type Attempt, type Claim, claimDeliveries } from '../../src/db/webhooks/deliveries.ts'
import { listDeliveries } from '../../src/db/webhooks/delivery-lists.ts'
import { fanOut } from '../../src/db/webhooks/fan-out.ts'
import { restartPage } from '../../src/db/webhooks/maintenance.ts'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'
import { findSigningWebhook } from '../../src/db/webhooks/secrets.ts'
import { findWebhook, listWebhooks, lockWebhook } from '../../src/db/webhooks/webhooks.ts'
import { ROTATION_OVERLAP_MS } from '../../src/domain/webhooks/webhook.ts'
import { type EndedAttempt, settleDeliveries } from '../../src/events/settle-delivery.ts'
import { createBench, someone } from '../support/engine.ts'

const bench = await createBench()
const { db, clock } = bench
const FAILURE = { delivered: false, response_code: 500, error: 'the answer was not a 2xx' }
const SECRET = new Uint8Array(32)
const OTHER = new Uint8Array(32).fill(1)
const keys = secretKeys(new Uint8Array(32).fill(7), [])

async function aWebhook() {
  const webhook = await createWebhook(db, { url: 'https://example.com/hook' }, { secret: SECRET, keys }, bench.author())
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

async function settle(id: number, claim: Claim, attempt: Attempt, event: EndedAttempt['event'] = 'sent') {
  const [settled] = await settleDeliveries(db, id, [{ claim, attempt, event }], clock.now, () => 0.5)
  return settled
}

const eventsOf = (id: number) =>
  db.query({ text: sql`select type from event where data -> 'webhook' ->> 'id' = $1`, values: [String(id)] })

test('a created webhook is the stored one', async () => {
  const webhook = await aWebhook()
  expect(await findWebhook(db, webhook.id)).toEqual(webhook)
})

test('a rotation keeps the secret before for its overlap', async () => {
  const { id } = await aWebhook()
  const rotated = await rotateSecret(db, id, { secret: OTHER, keys }, bench.author())
  expect(rotated).toMatchObject({ previous_until: clock.now + ROTATION_OVERLAP_MS })
  const secrets = { secret: Buffer.from(OTHER), previous_secret: Buffer.from(SECRET) }
  expect(await findSigningWebhook(db, keys, id)).toEqual({ ...rotated, secrets })
  expect(await rotateSecret(db, id + 64_000, { secret: OTHER, keys }, bench.author())).toBeUndefined()
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
  expect(await settle(id, claim, FAILURE)).toBe('retried')
  await updateWebhook(db, id, { enabled: false }, bench.author())
  const enabled = await updateWebhook(db, id, { enabled: true }, bench.author())
  expect(enabled).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null })
  expect(await restartPage(db, id, clock.now, 10)).toBe(false)
  expect((await listDeliveries(db, id, {}, { size: 10 })).items).toMatchObject([{ next_attempt_at: clock.now }])
})

test('an outcome is written once: a claim that another process has taken over is stale', async () => {
  const { id, claim } = await aClaim()
  clock.now += 15_001
  const [later] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
  expect(later?.attempts).toBe(claim.attempts + 1)
  expect(await settle(id, claim, FAILURE)).toBe('stale')
})

test('the first failure is noted at the webhook, and the next success takes it back', async () => {
  const { id, claim } = await aClaim()
  await settle(id, claim, FAILURE)
  expect(await findWebhook(db, id)).toMatchObject({ failing_since: clock.now })
  clock.now += 24 * 3_600_000
  const [again] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
  if (again === undefined) throw new Error('a delivery was expected to be due')
  const success = { delivered: true, response_code: 204, error: null }
  expect(await settle(id, again, success)).toBe('delivered')
  expect(await findWebhook(db, id)).toMatchObject({ failing_since: null, enabled: true })
})

test('enabling a webhook again begins new series of attempts, whichever way a delivery comes to be due', async () => {
  const { id, claim } = await aClaim()
  await bench.quota({ user_id: someone() })
  await fanOut(db, id, clock.now)
  const [other] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
  if (other === undefined) throw new Error('a delivery was expected to be due')
  // After two failures one is due in 20 s, and after one failure the other was due long ago.
  await settle(id, claim, FAILURE)
  clock.now += 10_000
  const [second] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 1)
  if (second === undefined) throw new Error('a delivery was expected to be due')
  await settle(id, other, FAILURE)
  clock.now += 14_000
  await settle(id, second, FAILURE)
  await updateWebhook(db, id, { enabled: false }, bench.author())
  clock.now += 1_000
  await updateWebhook(db, id, { enabled: true }, bench.author())
  expect(await restartPage(db, id, clock.now, 1)).toBe(true)
  expect(await restartPage(db, id, clock.now, 1)).toBe(false)
  const claims = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
  expect(claims.map(({ began_at }) => began_at)).toEqual([clock.now, clock.now])
  const rows = await db.query({ text: sql`select failures from webhook_delivery where webhook_id = $1`, values: [id] })
  expect(rows).toEqual([{ failures: 0 }, { failures: 0 }])
})

test('outcomes are written together as if one after the other', async () => {
  const { id, claim } = await aClaim()
  for (let n = 0; n < 2; n++) await bench.quota({ user_id: someone() })
  await fanOut(db, id, clock.now)
  clock.now += 1_000
  const [second, third] = await claimDeliveries(db, id, clock.now, clock.now + 15_000, 10)
  if (second === undefined || third === undefined) throw new Error('two deliveries were expected')
  const success = { delivered: true, response_code: 200, error: null }
  const stale = { ...third, attempts: 7 }
  const ended: EndedAttempt[] = [
    { claim, attempt: FAILURE, event: 'sent' },
    { claim: second, attempt: success, event: 'sent' },
    { claim: stale, attempt: success, event: 'sent' },
    { claim: third, attempt: FAILURE, event: 'sent' },
  ]
  const settled = await settleDeliveries(db, id, ended, clock.now, () => 0.5)
  expect(settled).toEqual(['retried', 'delivered', 'stale', 'retried'])
  expect(await findWebhook(db, id)).toMatchObject({ failing_since: clock.now })
  const { items: deliveries } = await listDeliveries(db, id, {}, { size: 10 })
  expect(deliveries.map(({ status }) => status).toSorted()).toEqual(['delivered', 'pending', 'pending'])
  expect(deliveries.filter(({ next_attempt_at }) => next_attempt_at === clock.now + 5_000)).toHaveLength(2)
})

test.each([
  ['gone', 'failed'],
  ['unreadable', 'retried'],
] as const)('an event that is %s says nothing about the receiver', async (event, outcome) => {
  const { id, claim } = await aClaim()
  expect(await settle(id, claim, { ...FAILURE, response_code: null }, event)).toBe(outcome)
  expect(await findWebhook(db, id)).toMatchObject({ failing_since: null, enabled: true })
})

test('a deleted webhook is gone at once, with its secrets, and its deliveries change no more', async () => {
  const { id, claim } = await aClaim()
  expect(await deleteWebhook(db, id, bench.author())).toBe(true)
  expect(await deleteWebhook(db, id, bench.author())).toBe(false)
  expect(await findWebhook(db, id)).toBeUndefined()
  expect(await db.transaction(tx => lockWebhook(tx, id))).toBeUndefined()
  expect((await listWebhooks(db)).map(webhook => webhook.id)).not.toContain(id)
  expect(await fanOut(db, id, clock.now)).toBe(false)
  expect(await claimDeliveries(db, id, clock.now + 60_000, clock.now + 75_000, 10)).toEqual([])
  // The attempt that was under way is settled, and does not bring the webhook back.
  expect(await settle(id, claim, { ...FAILURE, response_code: 410 })).toBe('failed')
  expect(await findWebhook(db, id)).toBeUndefined()
  expect(await eventsOf(id)).toEqual([])
  const [row] = await db.query({ text: sql`select secret, previous_secret from webhook where id = $1`, values: [id] })
  expect(row).toEqual({ secret: Buffer.alloc(0), previous_secret: null })
})

test('410 Gone disables the webhook at once', async () => {
  const { id, claim } = await aClaim()
  const gone = { ...FAILURE, response_code: 410 }
  expect(await settle(id, claim, gone)).toBe('failed')
  expect(await findWebhook(db, id)).toMatchObject({ enabled: false, disabled_reason: 'gone' })
  expect(await eventsOf(id)).toEqual([{ type: 'webhook.disabled' }])
})
