import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { openTransaction } from '../support/engine.ts'
import { createNetwork } from '../support/network.ts'
import { createSite } from '../support/process.ts'
import { rawSql } from '../support/sql.ts'

const site = await createSite()
const AUTH_SECRET = 'a secret for tests only, long enough for HS256'

/** The lock that a migration takes. */
const MIGRATION_LOCK = 7_670_835

async function ask(url: string, path: string) {
  const answer = await fetch(url + path)
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() }
}

const unavailable = (detail: string) => ({ status: 503, retryAfter: '1', body: { code: 'unavailable', detail } })

test('the port answers health while the service waits for a migration, then serves', async () => {
  const { url: DATABASE_URL } = await emptyDatabase()
  const db = openDatabase({ url: DATABASE_URL, idleTransactionTimeout: 0 })
  const migrating = await openTransaction(db, async tx => {
    await tx.query({ text: sql`select pg_advisory_xact_lock($1)`, values: [MIGRATION_LOCK] })
  })
  const service = site.launch(['serve'], { DATABASE_URL, AUTH_SECRET })
  await expect.poll(service.stdout).toContain('another process is migrating')
  const [, url = ''] = /"url":"([^"]+)","msg":"service: listening/.exec(service.stdout()) ?? []

  expect(await ask(url, '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } })
  for (const path of ['/readyz', '/api/sms/quota/summary', '/docs']) {
    expect(await ask(url, path), path).toMatchObject(unavailable('the service is starting'))
  }
  expect(service.stdout()).not.toContain('sms-quota is at')

  await migrating.commit()
  await db.close()
  await expect.poll(service.stdout).toContain(`sms-quota is at ${url}`)
  expect(await ask(url, '/readyz')).toMatchObject({ status: 200 })
  expect(await ask(url, '/api/sms/quota/summary')).toMatchObject({ status: 401 })
  await service.stop()
})

test('a start waits for its database, answers health meanwhile, and then serves', async () => {
  const network = await createNetwork((await freshDatabase()).url)
  network.cut()
  const service = site.launch(['serve'], { DATABASE_URL: network.url, AUTH_SECRET })
  await expect.poll(service.stdout).toContain('database: not there yet, waiting')
  const [, url = ''] = /"url":"([^"]+)","msg":"service: listening/.exec(service.stdout()) ?? []
  expect(await ask(url, '/livez')).toMatchObject({ status: 200 })
  expect(await ask(url, '/readyz')).toMatchObject(unavailable('the service is starting'))
  network.restore()
  await expect.poll(service.stdout).toContain(`sms-quota is at ${url}`)
  expect(await ask(url, '/readyz')).toMatchObject({ status: 200 })
  await service.stop()
})

test('a start that waits for its database ends with the signal, and at the latest when its time is over', async () => {
  const DATABASE_URL = 'postgres://u:p@127.0.0.1:1/d'
  const stopped = site.launch(['serve'], { DATABASE_URL, AUTH_SECRET, DATABASE_WAIT_SECONDS: '3600' })
  await expect.poll(stopped.stdout).toContain('database: not there yet, waiting')
  expect(await stopped.stop()).toMatchObject({ code: 0, stderr: '' })

  const over = await site.launch(['serve'], { DATABASE_URL, AUTH_SECRET, DATABASE_WAIT_SECONDS: '1' }).ended
  expect(over.stdout).toContain('database: not there yet, waiting')
  expect(over).toMatchObject({ code: 1, stderr: expect.stringMatching(/DATABASE_URL cannot be used: .*ECONNREFUSED/) })
})

test('a database that cannot be written is not ready, and later it is', async () => {
  const { url: DATABASE_URL, db } = await freshDatabase()
  const { url, stop, stdout } = await site.start({ DATABASE_URL, AUTH_SECRET })
  /** A setting that new sessions of the database get. */
  const setReadOnly = async (value: string) => {
    const name = new URL(DATABASE_URL).pathname.slice(1)
    await db.query({ text: sql`set default_transaction_read_only = off` })
    await db.query({ text: rawSql`alter database ${name} set default_transaction_read_only = ${value}` })
    await db.query({
      text: sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    })
  }
  await setReadOnly('on')
  const ready = () => ask(url, '/readyz')
  await expect.poll(ready).toMatchObject(unavailable(expect.stringMatching(/read-only/)))
  await setReadOnly('off')
  await expect.poll(ready).toMatchObject({ status: 200 })
  await stop()
  expect(stdout()).toMatch(/"reason":"the database is read-only.*"msg":"readiness: not ready"/)
  expect(stdout()).toContain('"msg":"readiness: ready again"')
})

test('a stop first ends readiness, then serves for the delay, then closes the port', async () => {
  const { url: DATABASE_URL } = await freshDatabase()
  const service = await site.start({ DATABASE_URL, AUTH_SECRET, SHUTDOWN_DELAY_SECONDS: '4' })
  const began = Date.now()
  service.signal('SIGTERM')
  await expect
    .poll(() => ask(service.url, '/readyz'), { interval: 10, timeout: 3_000 })
    .toMatchObject(unavailable('the service is stopping'))
  const quota = () => service.call('POST', '/api/sms/admin/quota', { body: { user_id: 7, limit: 5 } })
  expect(await quota()).toMatchObject({ status: 201 })
  await pause(1_200)
  expect(await ask(service.url, '/livez')).toMatchObject({ status: 200 })
  // The checks of the database go on, and none makes the service ready again.
  expect(await ask(service.url, '/readyz')).toMatchObject(unavailable('the service is stopping'))
  expect(await quota()).toMatchObject({ status: 201 })
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' })
  expect(Date.now() - began).toBeGreaterThanOrEqual(4_000)
  await expect(fetch(`${service.url}/livez`)).rejects.toThrow()
})
