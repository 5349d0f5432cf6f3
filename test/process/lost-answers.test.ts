/**
 * Senders of all kinds before two services on one database, through a proxy that loses, delays, doubles and cuts what passes it and
 * answers by itself, while services and the database are killed. What is charged at the end is what the provider took.
 *
 *     npm run lost-answers -- --minutes 60 --seed 1
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { sql } from '../../src/db/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { createDeployment } from '../support/chaos/deployment.ts'
import { whenDone } from '../support/cleanup.ts'
import { randomOf } from '../support/fuzz/random.ts'
import { agentSender } from '../support/lost-answers/agent-sender.ts'
import { createBooks } from '../support/lost-answers/books.ts'
import { judge } from '../support/lost-answers/judgement.ts'
import { createProvider } from '../support/lost-answers/provider.ts'
import { createProxy } from '../support/lost-answers/proxy.ts'
import { leasingSender, reservingSender, type Sender } from '../support/lost-answers/senders.ts'
import { createForecast } from '../support/lost-answers/weather.ts'

const seed = Number(process.env.LOST_ANSWERS_SEED ?? Date.now() % 1_000_000_000)
const messages = Number(process.env.LOST_ANSWERS_MESSAGES ?? 200)
/** The last of them have little. */
const USERS = 12
const TIGHT_USERS = 4
/** Messages that a sender has under way at a time. */
const LINES = 3
/** When the provider has taken so many messages, something is killed. */
const KILL_EVERY = 120

const deployment = await createDeployment(1)
const forecast = createForecast(randomOf(seed + 1), () => performance.now())
const ports = randomOf(seed + 2)
const proxy = await createProxy(forecast, () => deployment.port(ports.integer(2)))
const folder = await mkdtemp(join(tmpdir(), 'lost-answers-'))
whenDone(() => rm(folder, { recursive: true, force: true }))

const limitOf = (userId: number) => (userId > USERS - TIGHT_USERS ? 60 : 1_000_000)

async function createQuotas(): Promise<void> {
  const admin = createClient({ url: `http://127.0.0.1:${deployment.port(0)}`, token: deployment.token })
  for (let userId = 1; userId <= USERS; userId++) await admin.createQuota({ userId, limit: limitOf(userId) })
}

test(
  `${messages} messages through a network that loses answers: what is charged is what was sent`,
  async () => {
    console.log(`LOST_ANSWERS_SEED=${seed}`)
    const [provider, books] = [createProvider(), createBooks()]
    const killed: string[] = []
    const seconds: Record<string, number> = {}
    const began = performance.now()
    const mark = (what: string) => {
      seconds[what] = Math.round((performance.now() - began) / 1_000)
    }
    const report = () => ({
      taken: provider.taken.length,
      unknown: provider.unknown.size,
      killed: killed.join(', '),
      seconds,
      ...Object.fromEntries([...books.counts].sort()),
      ...Object.fromEntries([...proxy.counts].map(([kind, count]) => [`proxy: ${kind}`, count])),
    })
    onTestFailed(() => {
      console.error(`npm run lost-answers -- --seed ${seed} --messages ${messages}\n${deployment.output()}`)
      console.error(report())
    })
    await createQuotas()
    const world = { url: proxy.url, token: deployment.token, folder, provider, books }
    const senders: Sender[] = [
      await reservingSender(world, 1, 'deny', 'commit'),
      await reservingSender(world, 2, 'deny', 'release'),
      await reservingSender(world, 3, 'allow-with-debt', 'commit'),
      await reservingSender(world, 4, 'allow-with-debt', 'release'),
      await reservingSender(world, 5, 'lease', 'commit'),
      await reservingSender(world, 6, 'lease', 'release'),
      leasingSender(world, 7),
      leasingSender(world, 8),
      await agentSender(world, 9, 'neither'),
      await agentSender(world, 10, 'debts'),
      await agentSender(world, 11, 'leases'),
    ]

    let begun = 0
    let nextKill = KILL_EVERY / 2
    const fate = randomOf(seed + 3)
    const line = async (sender: Sender, index: number) => {
      const random = randomOf(seed + 100 + index)
      while (provider.taken.length < messages) {
        begun += 1
        if (provider.taken.length >= nextKill) {
          nextKill += KILL_EVERY
          kill()
        }
        const message = { userId: 1 + random.integer(USERS), id: `m-${begun}`, units: 1 + random.integer(3) }
        await sender.send(message, random)
        await pause(random.integer(60))
      }
    }
    const kill = async () => {
      const victim = fate.integer(3)
      killed.push(victim === 2 ? 'database' : `service ${victim}`)
      await (victim === 2 ? deployment.killPostmaster() : deployment.killService(victim))
    }
    const lines = Array.from({ length: LINES }).flatMap((_, n) =>
      senders.map((sender, index) => line(sender, n * senders.length + index)),
    )
    mark('started')
    await Promise.all(lines)
    mark('sent')

    forecast.heal()
    await proxy.settled()
    mark('settled')
    for (const sender of senders) {
      const close = () => sender.close().then(() => 'closed', String)
      await expect.poll(close, { timeout: 90_000, interval: 100, message: sender.name }).toBe('closed')
    }
    await proxy.settled()
    mark('closed')
    await allExpired()
    mark('expired')
    const judged = await judge({ deployment, provider, books, proxy, limitOf, users: USERS })
    console.log(report())
    expect(judged).toEqual({ wrong: [], twice: [], untrue: [], past: [] })
    expect((await verify(deployment.db)).differences).toEqual([])
    expect(deployment.serviceErrors).toEqual([])
  },
  // Ends only what hangs.
  600_000 + messages * 1_000,
)

/** Waits until the sweeper has closed what has expired. */
async function allExpired(): Promise<void> {
  const text = sql`select count(*)::int as open from reservation where committed + released < units`
  const open = async () => (await deployment.db.query<{ open: number }>({ text }))[0]?.open
  await expect.poll(open, { timeout: 90_000, interval: 200 }).toBe(0)
}
