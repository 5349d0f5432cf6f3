import { spawn } from 'node:child_process'
import { chown, cp, link, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { connectionOf, startEmbedded } from '../../src/db/embedded/embedded.ts'
import { isAlive } from '../../src/db/embedded/folders.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { rawSql } from '../support/sql.ts'
import { createFolders, pidFileOf, pidOf, read, readAll, recorder, withDatabase, write } from './embedded-fixture.ts'

const isRoot = process.getuid?.() === 0
const { root, started, start, prepare, startService } = await createFolders()

async function settings(url: string, ...names: string[]): Promise<Record<string, string>> {
  const rows = await withDatabase(url, db =>
    db.query<{ name: string; setting: string }>({
      text: sql`select name, setting from pg_settings where name = any($1::text[])`,
      values: [names],
    }),
  )
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
}

describe('a data folder with spaces in its path', () => {
  const dataDir = join(root, "a folder, it's here", 'data')

  test('is created at the first start, with a durable database that only its password opens', async () => {
    const { messages, log } = recorder()
    const { url, adopted } = await start(dataDir, log)
    expect(adopted).toBe(false)
    // A slow machine logs that it waits.
    expect(messages.filter(message => !message.includes('waiting'))).toEqual([
      'embedded database: copying PostgreSQL into the data folder',
      'embedded database: creating it, which takes a few seconds',
      'embedded database: started',
    ])
    const durable = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', data_checksums: 'on' }
    const guarded = { listen_addresses: '', password_encryption: 'scram-sha-256', server_encoding: 'UTF8' }
    const expected = { ...durable, ...guarded }
    expect(await settings(url, ...Object.keys(expected))).toEqual(expected)
    expect((await stat(join(dataDir, 'postgres-password'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(dataDir, 'socket'))).mode & 0o777).toBe(0o700)
    const wrong = openDatabase({ url: url.replace(/:[^:@]+@/, ':guessed@') })
    await expect(wrong.ping()).rejects.toThrow(/password authentication failed/)
    await wrong.close()
    await write(url, 1)
  })

  test('is found again at the second start, stops in time while a statement runs, and has no running server then', async () => {
    const { messages, log } = recorder()
    const { url, adopted, version, optimization, stop } = await start(dataDir, log)
    expect(messages.at(-1)).toBe('embedded database: started')
    expect(adopted).toBe(false)
    expect(version).toMatch(/^\d+\.\d+/)
    expect(optimization).toMatch(/^-O[0-9s]$/)
    expect(await read(url)).toEqual([{ value: 1 }])
    const pid = await pidOf(dataDir)
    await withDatabase(url, async db => {
      const endless = db.transaction(async tx => {
        await tx.query({ text: sql`set local statement_timeout = 0` })
        await tx.query({ text: sql`select pg_sleep(100)` })
      })
      const sleeping = expect(endless).rejects.toThrow()
      await pause(100)
      const begin = Date.now()
      await stop()
      expect(Date.now() - begin).toBeLessThan(60_000)
      await sleeping
    })
    // The system knows its id until this process has collected its exit status.
    await expect.poll(() => isAlive(pid), { interval: 5 }).toBe(false)
    expect(await connectionOf(dataDir)).toBeUndefined()
    await stop()
  })
})

test('a data folder whose path is too long for a socket has the socket elsewhere, in a private folder', async () => {
  const dataDir = await prepare('long'.repeat(40))
  const { url } = await start(dataDir)
  const socketFolder = new URL(url).searchParams.get('host') ?? ''
  expect(socketFolder.length).toBeLessThan(90)
  expect((await stat(socketFolder)).mode & 0o777).toBe(0o700)
  await write(url, 1)
  expect(await connectionOf(dataDir)).toBe(url)
  await started.pop()?.stop()
  await rm(socketFolder, { recursive: true })
})

test('a folder that the server’s user cannot enter is refused under root, with what to do', async () => {
  const home = join(root, 'home')
  await mkdir(home, { mode: 0o700 })
  const dataDir = join(home, 'data')
  if (isRoot) await expect(start(dataDir)).rejects.toThrow(/cannot enter .*\/home\..*DATA_DIR/)
  else await start(dataDir)
})

describe('a folder of an earlier version, which left it to root', async () => {
  const dataDir = await prepare('of-root')

  test('is given to the account, and the server that a killed service left behind is ended', async () => {
    const service = await startService(dataDir)
    await write(service.url, 1)
    await service.kill()
    const { uid } = await stat(join(dataDir, 'database'))
    if (isRoot) {
      for (const name of ['', 'postgres-password', 'database/PG_VERSION']) await chown(join(dataDir, name), 0, 0)
    }
    const { url, adopted } = await start(dataDir)
    expect(adopted).toBe(!isRoot)
    expect(await read(url)).toEqual([{ value: 1 }])
    for (const name of ['', 'postgres-password', 'database/PG_VERSION'])
      expect((await stat(join(dataDir, name))).uid).toBe(uid)
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
    expect(uid === 0).toBe(false)
  })

  test('is refused while it holds a file with a second name, which could be a file of the system', async () => {
    await link(join(root, 'of-root/postgres-password'), join(dataDir, 'database/second'))
    if (isRoot) {
      await chown(dataDir, 0, 0)
      await expect(start(dataDir)).rejects.toThrow(/second.* \(a hard link\)|postgres-password.* \(a hard link\)/)
    }
    await rm(join(dataDir, 'database/second'))
    expect(await read((await start(dataDir)).url)).toEqual([{ value: 1 }])
  })
})

describe('the role of the service', async () => {
  const dataDir = await prepare('role')

  /** Runs a statement as the superuser that initdb made. */
  const administer = (adminUrl: string, ...statements: string[]) =>
    withDatabase(adminUrl, async db => {
      for (const text of statements) await db.query({ text: rawSql`${text}` })
    })

  test('owns its database and has no other right', async () => {
    const { url, adminUrl } = await start(dataDir)
    expect(url).toMatch(/^postgresql:\/\/sms_quota_service:/)
    expect(new URL(url).password).not.toBe(new URL(adminUrl).password)
    expect(await connectionOf(dataDir)).toBe(url)
    await withDatabase(url, async db => {
      const rights = sql`select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
        (select count(*)::int from pg_auth_members where member = r.oid) as roles,
        pg_has_role((select datdba from pg_database where datname = current_database()), 'usage') as owner
        from pg_roles r where rolname = current_user`
      expect(await db.query({ text: rights })).toEqual([
        {
          rolsuper: false,
          rolcreaterole: false,
          rolcreatedb: false,
          rolreplication: false,
          rolbypassrls: false,
          roles: 0,
          owner: true,
        },
      ])
      for (const text of [
        `select pg_read_file('postgresql.conf')`,
        `select pg_ls_dir('.')`,
        `copy (select 1) to program 'id'`,
        `select rolpassword from pg_authid`,
        'set session authorization sms_quota',
        'set role sms_quota',
        'alter role sms_quota_service superuser',
        'create role another',
        'create extension dblink',
        `alter system set log_statement = 'all'`,
      ])
        await expect(db.query({ text: rawSql`${text}` }), text).rejects.toThrow(
          /permission denied|must be superuser|Only roles with|not available/i,
        )
    })
    const open = openDatabase({ url: adminUrl.replace(/:[^:@]+@/, `:${new URL(url).password}@`) })
    await expect(open.ping()).rejects.toThrow(/password authentication failed/)
    await open.close()
  })

  test('gets the database of an earlier version, where the superuser owns everything, at the next start', async () => {
    const first = await start(dataDir)
    await administer(
      first.adminUrl,
      'reassign owned by sms_quota_service to sms_quota',
      'drop owned by sms_quota_service',
      'drop role sms_quota_service',
      `create function plus_one(n integer) returns integer language sql return n + 1`,
      `create type colour as enum ('red')`,
      `create schema extra`,
      `create table extra.kept (id serial, colour colour, value integer generated always as identity)`,
      `create view extra.seen as select id from extra.kept`,
      `create materialized view extra.stored as select id from extra.kept`,
    )
    // Beside a service of the earlier version, nothing is changed, and the address leads to the database all the same.
    expect(await connectionOf(dataDir)).toBe(first.adminUrl)
    expect(
      await withDatabase(first.adminUrl, db =>
        db.query({ text: sql`select from pg_roles where rolname = $1`, values: ['sms_quota_service'] }),
      ),
    ).toEqual([])
    await started.pop()?.stop()

    const { url } = await start(dataDir)
    await withDatabase(url, async db => {
      const others = sql`select relname::text as name from pg_class
          where relnamespace::regnamespace::text in ('public', 'extra') and relowner <> current_user::regrole
        union all select typname from pg_type
          where typnamespace::regnamespace::text in ('public', 'extra') and typowner <> current_user::regrole
        union all select proname from pg_proc where pronamespace = 'public'::regnamespace and proowner <> current_user::regrole
        union all select nspname from pg_namespace where nspname = 'extra' and nspowner <> current_user::regrole
        union all select datname from pg_database where datname = current_database() and datdba <> current_user::regrole`
      expect(await db.query({ text: others })).toEqual([])
      await db.query({ text: sql`alter table extra.kept add column further integer` })
      await db.query({ text: sql`alter table quota add column further integer` })
      await db.query({ text: sql`alter table quota drop column further` })
    })
    await withDatabase(url, async db => expect((await verify(db)).differences).toEqual([]))
  })

  test('gets what a service of the earlier version has made since, and a password that fits the superuser’s', async () => {
    const { adminUrl, stop } = await start(dataDir)
    await administer(adminUrl, 'create table made_since (value integer)', `alter role sms_quota password 'changed'`)
    await stop()
    await writeFile(join(dataDir, 'postgres-password'), 'changed')
    const { url } = await start(dataDir)
    await withDatabase(url, db => db.query({ text: sql`alter table made_since add column further integer` }))
  })
})

describe('after a crash', async () => {
  const dataDir = await prepare('crash')

  test('of the service, the next start adopts the server that was left running', async () => {
    const service = await startService(dataDir)
    await write(service.url, 1)
    const pid = await pidOf(dataDir)
    await service.kill()
    const { url, adopted } = await start(dataDir)
    expect(adopted).toBe(true)
    expect(await pidOf(dataDir)).toBe(pid)
    expect(await read(url)).toEqual([{ value: 1 }])
  })

  test('of the server by SIGKILL, SIGINT or SIGTERM, it is started again', async () => {
    const { messages, log } = recorder()
    const { url } = await start(dataDir, log, 500)
    await withDatabase(url, async db => {
      for (const signal of ['SIGKILL', 'SIGINT', 'SIGTERM'] as const) {
        expect(await readAll(db)).toEqual([{ value: 1 }])
        messages.length = 0
        process.kill(await pidOf(dataDir), signal)
        await expect.poll(() => messages, { message: signal }).toContain('embedded database: running again')
        expect(await readAll(db)).toEqual([{ value: 1 }])
      }
    })
  })

  test('of an adopted server, it is started again', async () => {
    await (await startService(dataDir)).kill()
    const { messages, log } = recorder()
    const { url, adopted } = await start(dataDir, log)
    expect(adopted).toBe(true)
    process.kill(await pidOf(dataDir), 'SIGKILL')
    await expect.poll(() => messages).toContain('embedded database: running again')
    expect(await read(url)).toEqual([{ value: 1 }])
    // The service holds the lock again, too.
    await expect(startEmbedded({ dataDir, log, lockTimeout: 0 })).rejects.toThrow(/in use/)
  })

  test('of one of the server’s processes, the service reconnects', async () => {
    const { messages, log } = recorder()
    const { url, adminUrl } = await start(dataDir, log)
    const [row] = await withDatabase(adminUrl, db =>
      db.query<{ pid: number }>({ text: sql`select pid from pg_stat_activity where backend_type = 'checkpointer'` }),
    )
    // Not 0, which would be this process and its group.
    process.kill(row?.pid ?? Number.NaN, 'SIGKILL')
    await expect.poll(() => messages).toContain('embedded database: running again')
    expect(await read(url)).toEqual([{ value: 1 }])
  })

  test('of both, the next start has every confirmed commit', async () => {
    const service = await startService(dataDir)
    await write(service.url, 2)
    const pid = await pidOf(dataDir)
    await service.kill()
    process.kill(pid, 'SIGKILL')
    const { url, adopted } = await start(dataDir)
    expect(adopted).toBe(false)
    expect(await read(url)).toEqual([{ value: 1 }, { value: 2 }])
  })

  test('a stop right after the server died leaves no server', async () => {
    const embedded = await start(dataDir)
    process.kill(await pidOf(dataDir), 'SIGKILL')
    await pause(30)
    await embedded.stop()
    expect(await connectionOf(dataDir)).toBeUndefined()
  })

  test('a lock file with the id of another process does not stop the start, and that process lives on', async () => {
    const { uid, gid } = await stat(join(dataDir, 'database'))
    const stranger = spawn('sleep', ['60'], isRoot ? { uid, gid } : {})
    const socket = join(dataDir, 'socket')
    const lines = [stranger.pid, join(dataDir, 'database'), 1, 5432, socket, '', '', 'ready', '']
    await writeFile(pidFileOf(dataDir), lines.join('\n'))
    await writeFile(join(socket, '.s.PGSQL.5432.lock'), lines.join('\n'))
    const embedded = await start(dataDir)
    expect(await read(embedded.url)).toHaveLength(2)
    await embedded.stop()
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
    stranger.kill()
  })

  test('an empty lock file does not stop the start', async () => {
    await writeFile(pidFileOf(dataDir), '')
    const { url } = await start(dataDir)
    expect(await read(url)).toHaveLength(2)
  })

  test('a copy of the folder is not confused with the original, whose server it names', async () => {
    const { url } = await start(dataDir)
    const copied = join(root, 'copy')
    await cp(dataDir, copied, { recursive: true, filter: path => !path.endsWith('.s.PGSQL.5432') })
    if (isRoot) await changeOwner(copied, dataDir)
    expect(await connectionOf(copied)).toBeUndefined()
    const copy = await start(copied)
    expect(copy.url).not.toBe(url)
    await write(copy.url, 99)
    expect(await read(url)).toHaveLength(2)
  })
})

/** `cp` under root makes everything root's. */
async function changeOwner(folder: string, like: string): Promise<void> {
  const { uid, gid } = await stat(join(like, 'database'))
  const done = spawn('chown', ['-R', `${uid}:${gid}`, join(folder, 'database'), join(folder, 'socket')])
  await new Promise(resolve => done.once('exit', resolve))
}

describe('two services', () => {
  test('on one folder: the second names the first, which goes on, until that is killed', async () => {
    const dataDir = join(root, 'crash')
    const first = await startService(dataDir)
    expect(await connectionOf(dataDir)).toBe(first.url)
    const second = startEmbedded({ dataDir, log: recorder().log, lockTimeout: 0 })
    await expect(second).rejects.toThrow(new RegExp(`${dataDir} is in use .*process ${first.pid}\\b.*DATA_DIR`))
    expect(await read(first.url)).toHaveLength(2)
    await first.kill()
    expect((await start(dataDir)).adopted).toBe(true)
  })
})

test('a path that would break a shell command is refused', async () => {
  await expect(start(join(root, 'a "quoted" folder'))).rejects.toThrow(/DATA_DIR/)
})

test('a database of another major version is left alone', async () => {
  const dataDir = join(root, 'older')
  await mkdir(join(dataDir, 'database'), { recursive: true })
  await writeFile(join(dataDir, 'database', 'PG_VERSION'), '9\n')
  await expect(start(dataDir)).rejects.toThrow(/made by PostgreSQL 9.*upgrade-database/)
})
