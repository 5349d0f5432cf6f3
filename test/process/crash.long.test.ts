/** Kills of the service and its database together, of starts, and while the default plan is given. `crash.test.ts` kills each of them alone. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { connectionOf } from '../../src/db/embedded/embedded.ts'
import { byId, DEFAULT_PLAN, expectGivenOnce, type StrangersAnswer, sendOfStrangers } from '../support/strangers.ts'
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
  const call = async (path: string, body: object): Promise<StrangersAnswer | undefined> => {
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
  expect(await call('admin/plans', DEFAULT_PLAN)).toBeDefined()
  const strangers = byId(120)
  const sent = await sendOfStrangers(
    strangers,
    (op, message) => call(`sender/quota/${op}`, message),
    async (round, calls) => {
      if (round < 4) {
        // Sooner or later in the first transactions that give the plan.
        await pause(20 + random() * 150)
        await victim.service().kill()
      }
      await calls
      if (round < 4) await victim.restart()
    },
  )
  const db = openDatabase({ url: (await connectionOf(victim.site.dataDir)) ?? '' })
  await expectGivenOnce(db, strangers, sent)
  await db.close()
})
