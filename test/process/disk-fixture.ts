/**
 * A disk that is full, or does not keep what it was given, below the service's own PostgreSQL. A link in the place of one of its files
 * leads to a device whose errors are the system's own: `/dev/full` refuses each write (ENOSPC), `/dev/null` takes each write, keeps
 * nothing and cannot be flushed (EINVAL). That needs neither a mount nor a right.
 */
import { readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { type Folders, foldersIn } from '../../src/db/embedded/folders.ts'
import { findRunning } from '../../src/db/embedded/server.ts'
import { whenDone } from '../support/cleanup.ts'
import { createSite, type Service } from '../support/process.ts'
import type { Answer } from '../support/service.ts'

const SECRET = 'a secret for tests only, long enough for HS256'
const SENDER = '/api/sms/sender/quota'

export const unavailable = { status: 503, body: { code: 'unavailable' } }

export const createQuota = (service: Service, user: number) =>
  service.call('POST', '/api/sms/admin/quota', { body: { user_id: user, limit: 1_000_000 } })

/** Call this where tests are declared. The files are in `parent`, or where those of the run are, which may be in memory. */
export async function createDisk(parent?: string) {
  const site = await createSite({ prepared: true, ...(parent === undefined ? {} : { parent }) })
  const folders = foldersIn(site.dataDir)
  const token = await new SignJWT({
    sub: 'gateway',
    roles: ['sms-quota:sender'],
    exp: Math.floor(Date.now() / 1_000) + 86_400,
  })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from(SECRET))
  const send = (service: Service, method: string, path: string, body?: object): Promise<Answer> =>
    service.call(method, SENDER + path, { body, headers: { authorization: `Bearer ${token}` } })

  return {
    folders,
    serverLog: () => readFile(folders.log, 'utf8'),
    consume: (service: Service, user: number, id: string) =>
      send(service, 'POST', '/consume', { user_id: user, id, units: 1 }),
    find: (service: Service, user: number, id: string) => send(service, 'GET', `/reservations/${user}/${id}`),

    /** Until the test is over. */
    async start(): Promise<Service> {
      const service = await site.start({ AUTH_SECRET: SECRET })
      whenDone(service.stop)
      return service
    },

    administer: <T>(work: (db: Database) => Promise<T>) => administerServer(folders, work),
  }
}

/** Does something as the superuser of the server that runs. */
async function administerServer<T>(folders: Folders, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ url: (await findRunning(folders))?.adminUrl ?? '', maxConnections: 1 })
  return work(db).finally(() => db.close())
}

/** The write-ahead log's next file is the device from now on, and the server has begun to use it. */
export function replaceNextLogFile(folders: Folders, device: string): Promise<string> {
  return administerServer(folders, async db => {
    await db.query({ text: sql`select pg_switch_wal()` })
    const [row] = await db.query<{ next: string }>({
      text: sql`select pg_walfile_name(pg_current_wal_insert_lsn() + setting::numeric + 1) as next
        from pg_settings where name = 'wal_segment_size'`,
    })
    const file = join(folders.cluster, 'pg_wal', row?.next ?? '')
    await rm(file, { force: true })
    await symlink(device, file)
    // A file in which nothing is written yet is not left; the senders may write nothing for a while on a busy machine.
    await db.query({ text: sql`select pg_logical_emit_message(false, 'test', 'written')` })
    // Its own answer may be lost with the server.
    await db.query({ text: sql`select pg_switch_wal()` }).catch(() => {})
    return file
  })
}
