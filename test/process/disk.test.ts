/**
 * A disk that is full, or does not keep what it was given, below the service's own PostgreSQL. A link in the place of one of its files
 * leads to a device whose errors are the system's own: `/dev/full` refuses each write (ENOSPC), `/dev/null` takes each write, keeps
 * nothing and cannot be flushed (EINVAL). That needs neither a mount nor a right.
 */
import { existsSync } from 'node:fs'
import { readFile, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { describe, expect, onTestFailed, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { foldersIn } from '../../src/db/embedded/folders.ts'
import { findRunning } from '../../src/db/embedded/server.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { whenDone } from '../support/cleanup.ts'
import { createSite, type Service } from '../support/process.ts'
import type { Answer } from '../support/service.ts'

const SECRET = 'a secret for tests only, long enough for HS256'
const SENDER = '/api/sms/sender/quota'

const site = await createSite({ prepared: true })
const folders = foldersIn(site.dataDir)
/** Until the test is over. */
async function start(): Promise<Service> {
  const service = await site.start({ AUTH_SECRET: SECRET })
  whenDone(service.stop)
  return service
}
const token = await new SignJWT({ sub: 'gateway', roles: ['sms-quota:sender'], exp: 9_999_999_999 })
  .setProtectedHeader({ alg: 'HS256' })
  .sign(Buffer.from(SECRET))

const unavailable = { status: 503, body: { code: 'unavailable' } }

const send = (service: Service, method: string, path: string, body?: object): Promise<Answer> =>
  service.call(method, SENDER + path, { body, headers: { authorization: `Bearer ${token}` } })
const consume = (service: Service, user: number, id: string) =>
  send(service, 'POST', '/consume', { user_id: user, id, units: 1 })
const find = (service: Service, user: number, id: string) => send(service, 'GET', `/reservations/${user}/${id}`)
const createQuota = (service: Service, user: number) =>
  service.call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 1_000_000 } })

/** Repeats calls until `stop`, each with its own number, and notes how they were answered. */
function repeat(call: (n: number) => Promise<Answer>) {
  const acknowledged = new Map<number, Answer>()
  const refused: Answer[] = []
  let made = 0
  let isStopped = false
  async function loop(): Promise<void> {
    while (!isStopped) {
      const n = made++
      const answer = await call(n).catch(() => undefined)
      if (answer === undefined) continue
      if (answer.status < 300) acknowledged.set(n, answer)
      else refused.push(answer)
    }
  }
  const loops = Promise.all([loop(), loop(), loop()])
  return {
    acknowledged,
    refused,
    /** @returns how many calls were made */
    async stop() {
      isStopped = true
      await loops
      return made
    },
  }
}

/** Does something as the superuser of the server that runs. */
async function administer<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ url: (await findRunning(folders))?.adminUrl ?? '', maxConnections: 1 })
  return work(db).finally(() => db.close())
}

/** The write-ahead log's next file is the device from now on, and the server has begun to use it. */
async function replaceNextLogFile(device: string): Promise<string> {
  return administer(async db => {
    await db.query({ text: sql`select pg_switch_wal()` })
    const [row] = await db.query<{ next: string }>({
      text: sql`select pg_walfile_name(pg_current_wal_insert_lsn() + setting::numeric + 1) as next
        from pg_settings where name = 'wal_segment_size'`,
    })
    const file = join(folders.cluster, 'pg_wal', row?.next ?? '')
    await rm(file, { force: true })
    await symlink(device, file)
    // Its own answer may be lost with the server.
    await db.query({ text: sql`select pg_switch_wal()` }).catch(() => {})
    return file
  })
}

const serverLog = () => readFile(folders.log, 'utf8')

describe('the disk of the service’s own database', () => {
  test('is full for a table: its calls are 503, others go on, and nothing is done', async () => {
    let service = await start()
    expect((await createQuota(service, 900)).status).toBe(201)
    const table = await administer(async db => {
      const [row] = await db.query<{ path: string; size: number }>({
        text: sql`select pg_relation_filepath('reservation') as path, pg_relation_size('reservation') as size`,
      })
      expect(row?.size).toBe(0)
      // Errors of statements are not in the server's log otherwise.
      await db.query({ text: sql`alter role sms_quota_service set log_min_messages = 'error'` })
      return join(folders.cluster, row?.path ?? '')
    })
    await service.stop()
    await rename(table, `${table}.kept`)
    await symlink('/dev/full', table)
    service = await start()
    whenDone(() => existsSync(`${table}.kept`) && rename(`${table}.kept`, table))

    expect(await consume(service, 900, 'full')).toMatchObject(unavailable)
    await expect.poll(serverLog).toMatch(/ERROR: .*could not extend file .*No space left on device/)
    await expect.poll(service.stdout).toMatch(/could not extend file .*No space left on device/)
    expect(await find(service, 900, 'full')).toMatchObject({ status: 404 })
    expect((await service.call('GET', '/readyz')).status).toBe(200)
    expect((await createQuota(service, 8)).status).toBe(201)

    await rename(`${table}.kept`, table)
    // The processes of the server have the device open.
    await administer(db =>
      db.query({
        text: sql`select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      }),
    )
    await expect
      .poll(() => consume(service, 900, 'full'))
      .toMatchObject({ status: 200, body: { granted: true, replayed: false } })
  })

  test.each([
    ['is full for its log', 901, '/dev/full', /PANIC: .*could not write to log file .*No space left on device/g],
    ['does not flush its log', 902, '/dev/null', /PANIC: .*could not f\w*sync file "\w+": Invalid argument/g],
  ])(
    '%s: nothing acknowledged is lost, calls are 503, and it goes on by itself when there is room',
    async (_, user, device, reason) => {
      const service = await start()
      expect((await createQuota(service, user)).status).toBe(201)
      const sending = repeat(n => consume(service, user, `m${n}`))
      const creating = repeat(n => createQuota(service, 10_000 + n))
      const numbers = () => [sending.acknowledged.size, creating.acknowledged.size]
      await expect.poll(() => Math.min(...numbers())).toBeGreaterThan(20)

      onTestFailed(async () => console.error((await serverLog()).slice(-4_000)))
      const file = await replaceNextLogFile(device)
      // It fails, recovers, and fails again, until there is room.
      await expect.poll(async () => (await serverLog()).match(reason)?.length ?? 0).toBeGreaterThan(1)
      const [sent = 0, created = 0] = numbers()
      expect(await consume(service, user, 'meanwhile')).toMatchObject(unavailable)
      expect((await service.call('GET', '/livez')).status).toBe(200)
      expect((await service.call('GET', '/readyz')).status).toBe(503)
      expect(numbers()).toEqual([sent, created])

      await rm(file)
      await expect.poll(() => sending.acknowledged.size).toBeGreaterThan(sent)
      await expect.poll(() => creating.acknowledged.size).toBeGreaterThan(created)
      const made = await sending.stop()
      await creating.stop()
      for (const refusal of [...sending.refused, ...creating.refused]) expect(refusal).toMatchObject(unavailable)

      for (const n of sending.acknowledged.keys())
        expect(await find(service, user, `m${n}`)).toMatchObject({ status: 200, body: { committed: 1 } })
      for (const { body } of creating.acknowledged.values())
        expect(await service.call('GET', `/api/sms/admin/quota/${body.id}`)).toMatchObject({ status: 200, body })
      // Each is charged once, however its first call ended.
      for (const id of ['meanwhile', ...Array.from({ length: made }, (_, n) => `m${n}`)])
        expect(await consume(service, user, id)).toMatchObject({ status: 200, body: { granted: true } })
      const { body } = await service.call('GET', `/api/sms/admin/quota/list?user_id=${user}`)
      expect(body.items).toMatchObject([{ used: made + 1 }])
      expect((await administer(verify)).differences).toEqual([])
    },
  )
})
