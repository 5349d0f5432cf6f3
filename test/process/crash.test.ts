import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { startVictim } from './crash-fixture.ts'

const victim = await startVictim()
const { ledger } = victim

describe('kill -9 of the service', () => {
  test('loses nothing, and the next start adopts the database', async () => {
    const writing = await victim.killWhileWriting(() => victim.service().kill())
    await writing.stop()
    await victim.startAgain()
    expect(victim.service().stdout()).toContain('embedded database: adopted')
  })
})

describe('kill -9 of the database', () => {
  test('loses nothing, and calls fail with 503 and retry-after until it is back', async () => {
    const returns = () => victim.service().stdout().split('embedded database: running again').length
    const before = returns()
    const writing = await victim.killWhileWriting(victim.killPostmaster)
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
    await ledger.settle(victim.service().call)
  })
})

test('after all kills, counters, changes and events agree', () => victim.expectAgreement())

test('kill -9 in the middle of a gift: the same key gives the rest, and no user twice', async () => {
  const users = Array.from({ length: 1_000 }, (_, n) => ({ user_id: 500_000 + n }))
  const ask = async (path: string, type: string, body: string) =>
    fetch(`${victim.service().url}/api/sms/admin/quota/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${victim.service().token}`, 'content-type': type, 'idempotency-key': 'killed' },
      body,
    })
  const grants = users.map(user => JSON.stringify({ ...user, external_ref: 'M', limit: 100, period: 'month' }))
  expect(await (await ask('import', 'application/x-ndjson', grants.join('\n'))).text()).toContain('"created":1000')
  const gift = JSON.stringify({ users, units: 5, period: 'month', until: 'for_good', reason: 'Killed' })
  const give = () => ask('give', 'application/json', gift)
  const reader = (await give()).body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ''; !text.includes('"given"'); ) text += (await reader?.read())?.value ?? ''
  await victim.service().kill()
  await reader?.cancel().catch(() => {})
  await victim.restart()
  const end = JSON.parse((await (await give()).text()).trimEnd().split('\n').at(-1) ?? '')
  expect(end).toMatchObject({ record: 'end', left_out: 0, failed: 0 })
  expect(end.given_before).toBeGreaterThan(0)
  expect(end.given + end.given_before).toBe(1_000)
  const db = openDatabase({ url: (await connectionOf(victim.site.dataDir)) ?? '' })
  const limits = sql`select "limit", count(*) from quota where user_id >= 500000 group by "limit"`
  const found = await db.query({ text: limits })
  await db.close()
  expect(found).toEqual([{ limit: 105, count: 1_000 }])
})
