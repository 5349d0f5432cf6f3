import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFailed, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { createLedger, seededRandom } from '../support/ledger.ts'
import { createSite, type Service } from '../support/process.ts'

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const random = seededRandom(seed)
const ledger = createLedger(random)
const site = await createSite({ prepared: true })
let service = await site.start()

async function killPostmaster(): Promise<void> {
  const pid = await site.postmaster()
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
}

/** Kills while some writes are acknowledged and others in flight. */
async function killWhileWriting(kill: () => Promise<void>): Promise<ReturnType<typeof ledger.write>> {
  onTestFailed(() => console.error(`SEED=${seed} repeats the same writes`))
  const before = ledger.acknowledged()
  const writing = ledger.write(service.call)
  await expect.poll(ledger.acknowledged).toBeGreaterThan(before)
  await pause(random() * 400)
  await kill()
  return writing
}

/** Starts the service again without manual repair, and checks that acknowledged writes are there. */
async function startAgain(): Promise<Service> {
  const next = await site.start()
  await ledger.settle(next.call)
  return next
}

describe('kill -9 of the service', () => {
  test('loses nothing, and the next start adopts the database', async () => {
    const writing = await killWhileWriting(() => service.kill())
    await writing.stop()
    service = await startAgain()
    expect(service.stdout()).toContain('embedded database: adopted')
  })
})

describe('kill -9 of the database', () => {
  test('loses nothing, and calls fail with 503 and retry-after until it is back', async () => {
    const returns = () => service.stdout().split('embedded database: running again').length
    const before = returns()
    const writing = await killWhileWriting(killPostmaster)
    await expect.poll(returns).toBe(before + 1)
    const acknowledged = ledger.acknowledged()
    await expect.poll(ledger.acknowledged).toBeGreaterThan(acknowledged)
    const refusals = await writing.stop()
    expect(refusals.length).toBeGreaterThan(0)
    for (const { headers, body } of refusals) {
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8')
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
      expect(body).toMatchObject({ status: 503, code: 'unavailable', request_id: headers['x-request-id'] })
    }
    await ledger.settle(service.call)
  })
})

test.each([
  ['the service first', async () => service.kill().then(killPostmaster)],
  ['the database first', async () => killPostmaster().then(service.kill)],
])('kill -9 of both loses nothing: %s', async (_order, killBoth) => {
  const writing = await killWhileWriting(killBoth)
  await writing.stop()
  service = await startAgain()
})

test('kill -9 during a start does not prevent the next start', async () => {
  onTestFailed(() => console.error(`SEED=${seed} repeats the same delays`))
  await service.kill()
  await killPostmaster()
  for (let round = 0; round < 4; round++) {
    const starting = site.launch(['serve'])
    await pause(random() * 800)
    await starting.kill()
    await killPostmaster()
  }
  service = await startAgain()
})

test('after all kills, counters, changes and events agree', async () => {
  const db = openDatabase({ url: (await connectionOf(site.dataDir)) ?? '' })
  const [sums] = await db.query({
    text: sql`select (select count(*) from quota) as quotas,
      (select sum(grants)::bigint from shard_head) as counted,
      (select sum(version)::bigint from quota) as versions,
      (select count(*) from quota_change) as changes,
      (select count(*) from event) as events,
      (select sum(last_event)::bigint from shard_head) as numbered`,
  })
  await db.close()
  const { versions, quotas } = sums as { versions: number; quotas: number }
  expect(quotas).toBe(ledger.acknowledged())
  expect(sums).toMatchObject({ counted: quotas, changes: versions, events: versions, numbered: versions })
})

test('kill -9 in the middle of a gift: the same key gives the rest, and no user twice', async () => {
  const users = Array.from({ length: 1_000 }, (_, n) => ({ user_id: 500_000 + n }))
  const ask = async (path: string, type: string, body: string) =>
    fetch(`${service.url}/api/sms/admin/quota/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': type, 'idempotency-key': 'killed' },
      body,
    })
  const grants = users.map(user => JSON.stringify({ ...user, external_ref: 'M', limit: 100, period: 'month' }))
  expect(await (await ask('import', 'application/x-ndjson', grants.join('\n'))).text()).toContain('"created":1000')
  const gift = JSON.stringify({ users, units: 5, period: 'month', until: 'for_good', reason: 'Killed' })
  const give = () => ask('give', 'application/json', gift)
  const reader = (await give()).body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ''; !text.includes('"given"'); ) text += (await reader?.read())?.value ?? ''
  await service.kill()
  await reader?.cancel().catch(() => {})
  service = await site.start()
  const end = JSON.parse((await (await give()).text()).trimEnd().split('\n').at(-1) ?? '')
  expect(end).toMatchObject({ record: 'end', left_out: 0, failed: 0 })
  expect(end.given_before).toBeGreaterThan(0)
  expect(end.given + end.given_before).toBe(1_000)
  const db = openDatabase({ url: (await connectionOf(site.dataDir)) ?? '' })
  const limits = sql`select "limit", count(*) from quota where user_id >= 500000 group by "limit"`
  const found = await db.query({ text: limits })
  await db.close()
  expect(found).toEqual([{ limit: 105, count: 1_000 }])
})
