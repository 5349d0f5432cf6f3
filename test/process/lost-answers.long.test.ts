/**
 * Senders of all kinds before two services on one database, through a proxy that loses, delays, doubles and cuts what passes it and
 * answers by itself, while services, the database and senders are killed. What is charged at the end is what the provider took.
 *
 * Some messages are given to two senders. Those that were under way in a killed sender are listed; what may be charged for them is in
 * docs/reference/killed-senders.md.
 *
 *     npm run lost-answers -- --minutes 60 --seed 1 --python /path/to/python3
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFailed, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { createDeployment } from '../support/chaos/deployment.ts'
import { whenDone } from '../support/cleanup.ts'
import { type Random, randomOf } from '../support/fuzz/random.ts'
import { agentSender } from '../support/lost-answers/agent-sender.ts'
import { checkRun } from '../support/lost-answers/checks.ts'
import { type Message, nameOf } from '../support/lost-answers/message.ts'
import { JAVASCRIPT, processSender, pythonKind } from '../support/lost-answers/process-sender.ts'
import { createProvider, serveProvider } from '../support/lost-answers/provider.ts'
import { createProxy } from '../support/lost-answers/proxy.ts'
import { createRunRecord } from '../support/lost-answers/record.ts'
import { resultOf } from '../support/lost-answers/result.ts'
import { leasingSender, reservingSender, type Sender, type World } from '../support/lost-answers/senders.ts'
import { createForecast } from '../support/lost-answers/weather.ts'

const seed = Number(process.env.LOST_ANSWERS_SEED ?? Date.now() % 1_000_000_000)
const messages = Number(process.env.LOST_ANSWERS_MESSAGES ?? 200)
const python = process.env.LOST_ANSWERS_PYTHON
/** Where the result is written to, too. */
const resultPath = process.env.LOST_ANSWERS_RESULT
/** The last of them have little. */
const USERS = 12
const TIGHT_USERS = 4
/** Messages that a sender has under way at a time. */
const LINES = 3
/** When the provider has taken this many messages, something is killed. */
const KILL_EVERY = 120
/** And a sender. */
const KILL_SENDER_EVERY = 30
/** In percent: messages that two senders have, of those that may share. */
const SHARED = 15

const deployment = await createDeployment(1)
const forecast = createForecast(randomOf(seed + 1), () => performance.now())
const ports = randomOf(seed + 2)
const proxy = createProxy(forecast, () => deployment.port(ports.integer(2)))
const folder = await mkdtemp(join(tmpdir(), 'lost-answers-'))
whenDone(() => rm(folder, { recursive: true, force: true }))

const limitOf = (userId: number) => (userId > USERS - TIGHT_USERS ? 60 : 1_000_000)

async function createQuotas(): Promise<void> {
  const admin = createClient({ url: `http://127.0.0.1:${deployment.port(0)}`, token: deployment.token })
  for (let userId = 1; userId <= USERS; userId++) await admin.createQuota({ userId, limit: limitOf(userId) })
}

async function createSenders(world: World): Promise<Sender[]> {
  const [denied, debt] = [{ onUnavailable: 'deny' }, { onUnavailable: 'allow-with-debt' }] as const
  const [before, after] = [{ onExpiry: 'commit' }, { onExpiry: 'release' }] as const
  const senders = [
    await reservingSender(world, 1, 'deny', 'commit'),
    await reservingSender(world, 2, 'deny', 'release'),
    await reservingSender(world, 3, 'allow-with-debt', 'commit'),
    await reservingSender(world, 4, 'allow-with-debt', 'release'),
    await reservingSender(world, 5, 'lease', 'commit'),
    await reservingSender(world, 6, 'lease', 'release'),
    await leasingSender(world, 7),
    await leasingSender(world, 8),
    await agentSender(world, 9, 'neither'),
    await agentSender(world, 10, 'debts'),
    await agentSender(world, 11, 'leases'),
    await processSender(world, 12, JAVASCRIPT, { ...denied, ...before }),
    await processSender(world, 13, JAVASCRIPT, { ...denied, ...after }),
    await processSender(world, 14, JAVASCRIPT, { ...debt, ...before }),
  ]
  if (python === undefined) return senders
  for (const [n, isAsync] of [false, true, false, true].entries()) {
    const kind = pythonKind(python, isAsync)
    senders.push(await processSender(world, 15 + n, kind, { ...denied, ...(n < 2 ? before : after) }))
  }
  return senders
}

test(
  `${messages} messages through a network that loses answers: what is charged is what was sent`,
  async () => {
    console.log(`LOST_ANSWERS_SEED=${seed}`)
    const [provider, record] = [createProvider(), createRunRecord()]
    const senders: Sender[] = []
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
      'under way at a kill': Array.from(record.killed.values(), ({ by, id }) => `${by} ${id}`).join(', '),
      seconds,
      result: resultOf({ senders, provider, record, proxy }),
      ...Object.fromEntries([...record.counts].sort()),
      ...Object.fromEntries([...proxy.counts].map(([kind, count]) => [`proxy: ${kind}`, count])),
    })
    onTestFailed(() => {
      console.error(
        `npm run lost-answers -- --seed ${seed} --messages ${messages}${python === undefined ? '' : ` --python ${python}`}\n${deployment.output()}`,
      )
      console.error(report())
    })
    await createQuotas()
    const providerUrl = await serveProvider(provider, randomOf(seed + 4))
    const { urlOf } = proxy
    senders.push(...(await createSenders({ urlOf, token: deployment.token, providerUrl, folder, provider, record })))

    let begun = 0
    let nextKill = KILL_EVERY / 2
    let nextKillOfSender = KILL_SENDER_EVERY / 2
    const fate = randomOf(seed + 3)
    const sentBy = ({ name }: Sender) => provider.taken.filter(({ by }) => by === name).length
    const line = async (sender: Sender, index: number) => {
      const random = randomOf(seed + 100 + index)
      while (provider.taken.length < messages) {
        // Those that send in outages wait for the others.
        if (sentBy(sender) > (2 * messages) / senders.length) {
          await pause(50)
          continue
        }
        begun += 1
        if (provider.taken.length >= nextKill) {
          nextKill += KILL_EVERY
          kill()
        }
        if (provider.taken.length >= nextKillOfSender) {
          nextKillOfSender += KILL_SENDER_EVERY
          killSender()
        }
        const message = { userId: 1 + random.integer(USERS), id: `m-${begun}`, units: 1 + random.integer(3) }
        record.countsOf(sender.kind).messages += 1
        const others = senders.filter(({ shares }) => shares !== undefined && shares === sender.shares)
        if (others.length > 1 && random.percent(SHARED)) {
          const other = random.pick(others.filter(one => one !== sender))
          await sendShared(message, [sender, other], random)
        } else await sender.send(message, random)
        await pause(random.integer(60))
      }
    }
    const kill = async () => {
      const victim = fate.integer(3)
      killed.push(victim === 2 ? 'database' : `service ${victim}`)
      await (victim === 2 ? deployment.killPostmaster() : deployment.killService(victim))
    }
    /** Gives a message to two senders, as a queue does that delivers it at least once. */
    const sendShared = async (message: Message, [first, second]: [Sender, Sender], random: Random) => {
      const type = `shared-${first.shares}`
      const isTogether = random.percent(30)
      const shared = { message, onExpiry: first.shares, isTogether, mayBeGivenBack: false }
      record.shared.set(nameOf(message), shared)
      const sending = first.send(message, random, type)
      if (!isTogether) {
        await sending
        shared.isTogether = first.isOpen?.(message) ?? false
      }
      record.count(`shared, ${shared.isTogether ? 'at the same time' : 'one after the other'}`)
      await Promise.all([sending, second.send(message, random, type)])
    }
    const killSender = async () => {
      const victim = fate.pick(senders.filter(sender => sender.kill !== undefined))
      killed.push(victim.name)
      await victim.kill?.()
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
    const found = await checkRun({ deployment, provider, record, proxy, limitOf, users: USERS })
    console.log(report())
    if (resultPath !== undefined)
      await writeFile(resultPath, JSON.stringify(resultOf({ senders, provider, record, proxy })))
    expect(found).toEqual({ wrong: [], twice: [], untrue: [], past: [] })
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
