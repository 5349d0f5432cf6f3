/** Kills of the service and its database together, of starts, and while the default plan is given. `crash.test.ts` kills each of them alone. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { startVictim } from './crash-fixture.ts'

const victim = await startVictim()
const { killPostmaster, site, random, seed } = victim
const killService = () => victim.service().kill()

test.each([
  ['the service first', async () => killService().then(killPostmaster)],
  ['the database first', async () => killPostmaster().then(killService)],
])('kill -9 of both loses nothing: %s', async (_order, killBoth) => {
  const writing = await victim.killWhileWriting(killBoth)
  await writing.stop()
  await victim.startAgain()
})

test('kill -9 during a start does not prevent the next start', async () => {
  onTestFailed(() => console.error(`SEED=${seed} repeats the same delays`))
  await killService()
  await killPostmaster()
  for (let round = 0; round < 4; round++) {
    const starting = site.launch(['serve'])
    await pause(random() * 800)
    await starting.kill()
    await killPostmaster()
  }
  await victim.startAgain()
})

test('after all kills, counters, changes and events agree', () => victim.expectAgreement())

test('kill -9 while strangers get the default plan: each gets it once, and is charged once for each message', async () => {
  const gateway = (await victim.site.launch(['token', '--subject', 'gateway', '--role', 'sender']).ended).stdout.trim()
  const call = async (path: string, body: object): Promise<{ granted?: boolean } | undefined> => {
    const { url, token: administrator } = victim.service()
    const token = path.startsWith('sender') ? gateway : administrator
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(`${url}/api/sms/${path}`, init).catch(() => undefined)
    if (answer?.ok !== true) return undefined
    // The answer of a service that is killed may break off.
    const text = await answer.text().catch(() => '')
    return text === '' ? undefined : JSON.parse(text)
  }
  const slots = [
    { slot: 'monthly', limit: 100, period: 'month' },
    { slot: 'daily', kind: 'cap', limit: 50, period: 'day' },
  ]
  expect(await call('admin/plans', { name: 'Basic', slots, is_default: true })).toBeDefined()
  const users = Array.from({ length: 120 }, (_, n) => 700_000 + n)
  const open = new Map(
    users.flatMap(user => [1, 2].map(n => [`${user}-${n}`, { user_id: user, id: `m${n}`, units: 1 }])),
  )
  const denied: object[] = []
  for (let round = 0; open.size > 0; round++) {
    const calls = [...open].map(async ([key, message]) => {
      const answer = await call('sender/quota/consume', message)
      if (answer?.granted === true) open.delete(key)
      else if (answer !== undefined) denied.push(answer)
    })
    if (round < 4) {
      // Sooner or later in the first transactions that give the plan.
      await pause(20 + random() * 150)
      await victim.service().kill()
      await Promise.all(calls)
      await victim.restart()
    } else await Promise.all(calls)
  }
  expect(denied).toEqual([])
  const db = openDatabase({ url: (await connectionOf(victim.site.dataDir)) ?? '' })
  const found = await db.query({
    text: sql`select plan ->> 'slot' as slot, used, count(*), count(distinct user_id) as users from quota where user_id >= 700000
      group by slot, used order by slot`,
  })
  const { differences } = await verify(db)
  await db.close()
  expect(found).toEqual([
    { slot: 'daily', used: 2, count: 120, users: 120 },
    { slot: 'monthly', used: 2, count: 120, users: 120 },
  ])
  expect(differences).toEqual([])
})
