/** An upgrade and a roll-back, one process at a time: version 0.1.0 and this one serve the same database meanwhile. */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { whenDone } from '../support/cleanup.ts'
import { emptyDatabase } from '../support/database.ts'
import { PROJECT } from '../support/paths.ts'
import { createSite, type Service, type Site } from '../support/process.ts'

/** The last commit of version 0.1.0. */
const VERSION_010 = '46f9914'
const USERS = 20
const SENDERS = 4
/** How many calls each service answers beside the other one, and then alone. */
const CALLS = 60

const { url } = await emptyDatabase()
const env = { DATABASE_URL: url, AUTH_SECRET: randomUUID().repeat(2), WEBHOOK_ALLOW_PRIVATE: 'true' }
const [before, now] = [await createSite({ project: await unpack(VERSION_010) }), await createSite()]

/** Unpacks a version out of the history. It shares the installed packages. */
async function unpack(commit: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sms-quota-earlier-'))
  whenDone(() => rm(folder, { recursive: true }))
  const command = `git -C "$1" archive "$2" | tar -x -C "$3"`
  await promisify(execFile)('bash', ['-o', 'pipefail', '-c', command, 'bash', PROJECT, commit, folder]).catch(error => {
    throw new Error(
      `version 0.1.0 (commit ${commit}) is not in this clone, run "git fetch --unshallow": ${error.message}`,
    )
  })
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

async function tokenOf(site: Site, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await site.launch(['token', ...args], env).ended
  expect(stderr).toBe('')
  return stdout.trim()
}

interface Request {
  method?: string
  path: string
  body?: object
  headers?: Record<string, string>
}

/** Callers of all services in `targets` in turn, as behind a proxy. A 503 is repeated, on the next one. */
function createLoad(tokens: { admin: string; sender: string }) {
  const targets: Service[] = []
  const failures: string[] = []
  const answered = new Map<Service, number>()
  const sent = new Map<Service, number>()
  /** The units that were granted and not given back, by user. */
  const used = new Map<number, number>()
  let [next, isStopped] = [0, false]

  /** The first failure ends the load. */
  function fail(failure: string): void {
    failures.push(failure)
    isStopped = true
  }

  async function call({ method = 'POST', path, body, headers }: Request) {
    const token = path.startsWith('/sender') ? tokens.sender : tokens.admin
    for (;;) {
      const target = targets[next++ % targets.length]
      if (target === undefined) throw new Error('no service is left')
      sent.set(target, (sent.get(target) ?? 0) + 1)
      const answer = await fetch(`${target.url}/api/sms${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      answered.set(target, (answered.get(target) ?? 0) + 1)
      if (answer.status !== 503) {
        if (!answer.ok) fail(`${method} ${path}: ${answer.status} ${text}`)
        return text === '' ? {} : JSON.parse(text)
      }
      await pause(50)
    }
  }

  const book = (user: number, units: number) => used.set(user, (used.get(user) ?? 0) + units)

  async function send(n: number): Promise<void> {
    const reservation = { id: randomUUID(), user_id: n % USERS }
    const { granted } = await call({ path: '/sender/quota/reserve', body: { ...reservation, units: 3 } })
    if (granted !== true) fail(`reserve was not granted: ${granted}`)
    await call({ path: '/sender/quota/commit', body: { ...reservation, total_units: 2 } })
    await call({ path: '/sender/quota/release', body: reservation })
    await call({ path: '/sender/quota/refund', body: { ...reservation, total_units: 1 } })
    book(reservation.user_id, 1)
    await call({ path: '/sender/quota/consume', body: { ...reservation, id: randomUUID(), units: 1 } })
    book(reservation.user_id, 1)
  }

  async function administer(): Promise<void> {
    const key = () => ({ 'idempotency-key': randomUUID() })
    const { id } = await call({ path: '/admin/quota', body: { user_id: USERS, limit: 5 }, headers: key() })
    await call({ method: 'PUT', path: `/admin/quota/${id}`, body: { limit: 6 }, headers: key() })
    await call({ method: 'DELETE', path: `/admin/quota/${id}` })
    const body = { url: 'http://127.0.0.1:9/', types: ['quota.deleted'] }
    const { id: webhook } = await call({ path: '/admin/webhooks', body, headers: key() })
    await call({ method: 'PUT', path: `/admin/webhooks/${webhook}`, body: { enabled: false }, headers: key() })
    await call({ path: `/admin/webhooks/${webhook}/rotate-secret`, headers: key() })
    await call({ method: 'DELETE', path: `/admin/webhooks/${webhook}` })
    for (const path of READS) await call({ method: 'GET', path })
  }

  const repeat = async (work: (n: number) => Promise<void>) => {
    for (let n = 0; !isStopped; n++) await work(n)
  }

  return {
    targets,
    failures,
    used,
    answeredBy: (service: Service) => answered.get(service) ?? 0,
    underWay: (service: Service) => (sent.get(service) ?? 0) - (answered.get(service) ?? 0),
    call,
    start() {
      const callers = Promise.all([...Array.from({ length: SENDERS }, () => repeat(send)), repeat(administer)])
      callers.catch(error => fail(`a call was cut: ${error.cause ?? error}`))
      return {
        async stop() {
          isStopped = true
          await callers.catch(() => {})
        },
      }
    },
  }
}

const midnight = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`
const DAYS = `from=${midnight(-1)}&to=${midnight(2)}`

const READS = [
  '/quota/summary',
  '/quota/denials',
  '/admin/quota/list?user_id=3',
  '/admin/quota/list?page_size=50',
  '/admin/quota/summary?user_id=4',
  '/admin/quota/reservations?user_id=4',
  `/admin/quota/usage?${DAYS}&interval=day`,
  `/admin/quota/usage/top?${DAYS}`,
  '/admin/users/5',
  '/admin/search?q=gateway',
  '/admin/denials',
  '/admin/events?after=latest',
  '/admin/webhooks',
]

test('0.1.0, this version, and 0.1.0 again replace each other under load, and no call fails', async () => {
  const first = await before.start(env)
  const [admin, sender] = await Promise.all([
    tokenOf(before, '--user', '1', '--role', 'admin'),
    tokenOf(before, '--subject', 'gateway', '--role', 'sender'),
  ])
  const load = createLoad({ admin, sender })
  load.targets.push(first)
  const body = { limit: 1_000_000 }
  for (let user_id = 0; user_id < USERS; user_id++)
    await load.call({ path: '/admin/quota', body: { ...body, user_id } })
  const running = load.start()

  /** Adds a service, lets both serve, then takes the earlier one out and ends it. */
  async function replace(earlier: Service, site: Site): Promise<Service> {
    const service = await site.start(env)
    load.targets.push(service)
    const [own, others] = [load.answeredBy(service), load.answeredBy(earlier)]
    const both = () => Math.min(load.answeredBy(service) - own, load.answeredBy(earlier) - others)
    await expect.poll(() => load.failures.length > 0 || both() > CALLS).toBe(true)
    load.targets.splice(load.targets.indexOf(earlier), 1)
    await expect.poll(() => load.underWay(earlier)).toBe(0)
    const { code, stdout } = await earlier.stop()
    expect(code, stdout).toBe(0)
    const alone = load.answeredBy(service)
    await expect.poll(() => load.failures.length > 0 || load.answeredBy(service) > alone + CALLS).toBe(true)
    return service
  }

  const upgraded = await replace(first, now)
  const rolledBack = await replace(upgraded, before)
  await running.stop()
  expect(load.failures).toEqual([])
  for (const [user, units] of load.used) {
    const { items } = await load.call({ method: 'GET', path: `/admin/quota/list?user_id=${user}` })
    expect(items, `user ${user}`).toMatchObject([{ used: units, reserved: 0 }])
  }
  expect((await rolledBack.stop()).code).toBe(0)
  const { code, stdout } = await now.launch(['verify'], env).ended
  expect(code, stdout).toBe(0)
})

test('0.1.0 opens no window of a quota with an anchor, and this version opens the right one', async () => {
  const { url } = await emptyDatabase()
  const own = { ...env, DATABASE_URL: url }
  const newer = await now.start(own)
  const create = async (body: object) => {
    const answer = await newer.call('POST', '/api/sms/admin/quota', { body: { limit: 100, period: 'month', ...body } })
    expect(answer).toMatchObject({ status: 201 })
    return answer.body.id
  }
  const [anchored, plain, starts_at] = [1, 2, '2020-01-01T00:00:00Z']
  // Days away, so that the window does not end meanwhile.
  const anchor = String(Math.min(28, new Date(Date.now() + 10 * 86_400_000).getUTCDate()))
  const id = await create({ user_id: anchored, anchor, starts_at })
  await create({ user_id: plain, starts_at })
  const windowOf = async (of: Service) => (await of.call('GET', `/api/sms/admin/quota/${id}`)).body
  const { window_start, window_end } = await windowOf(newer)

  const older = await before.start(own)
  const sender = await tokenOf(before, '--subject', 'gateway', '--role', 'sender')
  const send = async (of: Service, user_id: number) => {
    const answer = await fetch(`${of.url}/api/sms/sender/quota/consume`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sender}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user_id, id: randomUUID(), units: 1 }),
    })
    return [answer.status, JSON.parse(await answer.text()).granted]
  }
  // The window that is open was opened by this version.
  expect(await send(older, anchored)).toEqual([200, true])

  const db = openDatabase({ url })
  whenDone(() => db.close())
  await db.query({
    text: sql`update quota set seq = seq + 1, window_start = window_start - interval '2 months', window_end = window_start
              where id = $1`,
    values: [id],
  })
  for (let n = 0; n < 3; n++) {
    const [status, granted] = await send(older, anchored)
    expect(status).toBeGreaterThanOrEqual(500)
    expect(granted).toBeUndefined()
    expect(await send(older, plain)).toEqual([200, true])
  }
  expect(await send(newer, anchored)).toEqual([200, true])
  expect(await windowOf(newer)).toMatchObject({ window_start, window_end, used: 1 })
  expect(await send(older, anchored)).toEqual([200, true])
  await Promise.all([older.stop(), newer.stop()])
  const { code, stdout } = await now.launch(['verify'], own).ended
  expect(code, stdout).toBe(0)
})
