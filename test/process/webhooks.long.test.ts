import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { createSite, type Service } from '../support/process.ts'
import { createReceiver } from '../support/receiver.ts'

const site = await createSite({ prepared: true })
const receiver = await createReceiver()
const ENV = { WEBHOOK_ALLOW_PRIVATE: 'true' }
const WRITES = 6
/** How many events of a round are delivered before its kill: none, some, or all. */
const DEPTHS = [0, 2, 4, 6]

/** Creates quotas, and with them events. Rejects when the service dies. */
async function write(service: Service, user: number): Promise<void> {
  for (let n = 0; n < WRITES; n++) {
    await service.call('POST', '/api/sms/admin/quota', { body: { user_id: user + n, limit: 10 } })
  }
}

async function feed(service: Service): Promise<string[]> {
  const ids: string[] = []
  for (let after = ''; ; ) {
    const { status, body } = await service.call('GET', `/api/sms/admin/events?limit=200${after && `&after=${after}`}`)
    expect(status).toBe(200)
    ids.push(...body.items.map((item: { id: string }) => item.id))
    if (body.next === after) return ids
    after = body.next
  }
}

/** Lets the attempts that were under way at a kill count as lost now, not when their lease of 25 s ends. */
async function endLeases(): Promise<void> {
  const db = openDatabase({ url: (await connectionOf(site.dataDir)) ?? '' })
  await db.query({
    text: sql`update webhook_delivery set next_attempt_at = now() where status = 'pending' and next_attempt_at > now()`,
  })
  await db.close()
}

test(`kill -9 between commit and delivery, ${DEPTHS.length} times: each event is delivered at least once, and no other event is`, async () => {
  let service = await site.start(ENV)
  const created = await service.call('POST', '/api/sms/admin/webhooks', { body: { url: receiver.url } })
  expect(created.status).toBe(201)
  let interrupted = 0
  for (const depth of DEPTHS) {
    const before = receiver.received.length
    const writing = write(service, depth * WRITES).catch(() => {})
    await expect.poll(() => receiver.received.length, { interval: 1 }).toBeGreaterThanOrEqual(before + depth)
    await service.kill()
    await writing
    service = await site.start(ENV)
    const { body } = await service.call('GET', `/api/sms/admin/webhooks/${created.body.id}/deliveries?status=pending`)
    if (body.items.length > 0) interrupted += 1
  }
  const emitted = await feed(service)
  expect(emitted.length).toBeGreaterThan(DEPTHS.length)
  await endLeases()
  const missing = () => emitted.filter(id => !receiver.received.includes(id))
  await expect.poll(missing, { timeout: 120_000 }).toEqual([])
  expect(receiver.received.filter(id => !emitted.includes(id))).toEqual([])
  // Some kills interrupted deliveries.
  expect(interrupted).toBeGreaterThan(0)
  await service.stop()
}, 240_000)
