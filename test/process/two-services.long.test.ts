/** Clients that know the URLs of two services on one database, of which one is killed, stopped and started again meanwhile. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createClient } from '../../client/src/main.ts'
import { whenDone } from '../support/cleanup.ts'
import { freshDatabase } from '../support/database.ts'
import { createSite } from '../support/process.ts'

const USERS = 30
const SENDERS = 8
/** How many calls a service answers before the next step. */
const CALLS = 60

test.each(['killed', 'stopped'])(
  'one of two services is %s under load: no message fails, each is charged once, and its users come back',
  async how => {
    const { url } = await freshDatabase()
    const env = { DATABASE_URL: url, AUTH_SECRET: randomUUID().repeat(2) }
    const site = await createSite()
    let first = await site.start(env)
    const second = await site.start(env)
    const answered = { first: 0, second: 0 }
    const minted = await site.launch(['token', '--subject', 'gateway', '--role', 'sender'], env).ended
    const watched: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      answered[String(input).startsWith(first.url) ? 'first' : 'second'] += 1
      return response
    }
    // A machine that is busy with something else takes longer than two seconds.
    const urls = { url: [first.url, second.url], fetch: watched, senderTimeoutMs: 60_000, timeoutMs: 60_000 }
    const admin = createClient({ ...urls, token: first.token })
    const sender = createClient({ ...urls, token: minted.stdout.trim() })
    for (let userId = 0; userId < USERS; userId++) await admin.createQuota({ userId, limit: 1_000_000 })

    const charged = Array.from({ length: USERS }, () => 0)
    const failures: unknown[] = []
    let isStopped = false
    async function send(n: number): Promise<void> {
      const userId = n % USERS
      const id = randomUUID()
      const sent = await sender.withReservation({ userId, id, units: 2 }, () => 'sent')
      if (sent.granted && sent.sent === true) charged[userId] = (charged[userId] ?? 0) + 2
      else failures.push(sent)
      const consumed = await sender.consume({ userId, id: `${id}-2`, units: 1 })
      if (consumed.granted && !consumed.replayed) charged[userId] = (charged[userId] ?? 0) + 1
      else failures.push(consumed)
    }
    const senders = Array.from({ length: SENDERS }, async (_, n) => {
      for (let m = n; !isStopped; m += 7) await send(m).catch(error => failures.push(error))
    })
    whenDone(async () => {
      isStopped = true
      await Promise.all(senders)
    })
    const more = (which: keyof typeof answered) => {
      const before = answered[which]
      return expect.poll(() => failures.length > 0 || answered[which] > before + CALLS).toBe(true)
    }

    await Promise.all([more('first'), more('second')])
    await (how === 'killed' ? first.kill() : first.stop())
    await more('second')
    first = await site.start({ ...env, PORT: new URL(first.url).port })
    await more('first')
    isStopped = true
    await Promise.all(senders)
    expect(failures).toEqual([])
    await sender.close()
    for (const [userId, used] of charged.entries())
      expect(await admin.summarizeQuotasOfUser({ userId }), `user ${userId}`).toMatchObject({ used, reserved: 0 })
    await Promise.all([first.stop(), second.stop()])
    const { code, stdout } = await site.launch(['verify'], env).ended
    expect(code, stdout).toBe(0)
  },
)
