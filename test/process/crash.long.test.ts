/** Kills of the service and its database together, and of starts. `crash.test.ts` kills each of them alone. */
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFailed, test } from 'vitest'
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
