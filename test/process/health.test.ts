import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { emptyDatabase } from '../support/database.ts'
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

describe('a service that starts, serves and stops', async () => {
  const { url: databaseUrl, db } = await emptyDatabase()
  const network = await createNetwork(databaseUrl)
  const env = { DATABASE_URL: network.url, AUTH_SECRET, SHUTDOWN_DELAY_SECONDS: '3' }
  const launched = () => site.launch(['serve'], env)
  let service: ReturnType<typeof launched>
  let url = ''
  const ready = () => ask(url, '/readyz')

  test('waits for its database and for a migration, answers health meanwhile, and then serves', async () => {
    const locking = openDatabase({ url: databaseUrl, idleTransactionTimeout: 0 })
    const migrating = await openTransaction(locking, async tx => {
      await tx.query({ text: sql`select pg_advisory_xact_lock($1)`, values: [MIGRATION_LOCK] })
    })
    network.cut()
    service = launched()
    const expectHealth = async () => {
      expect(await ask(url, '/livez')).toMatchObject({ status: 200, body: { status: 'ok' } })
      for (const path of ['/readyz', '/api/sms/quota/summary', '/docs']) {
        expect(await ask(url, path), path).toMatchObject(unavailable('the service is starting'))
      }
    }
    await expect.poll(service.stdout).toContain('database: not there yet, waiting')
    url = /"url":"([^"]+)","msg":"service: listening/.exec(service.stdout())?.[1] ?? ''
    await expectHealth()
    network.restore()
    await expect.poll(service.stdout).toContain('another process is migrating')
    await expectHealth()
    expect(service.stdout()).not.toContain('sms-quota is at')

    await migrating.commit()
    await locking.close()
    await expect.poll(service.stdout).toContain(`sms-quota is at ${url}`)
    expect(await ready()).toMatchObject({ status: 200 })
    expect(await ask(url, '/api/sms/quota/summary')).toMatchObject({ status: 401 })
  })

  test('is not ready while its database cannot be written', async () => {
    /** A setting that new sessions of the database get. */
    const setReadOnly = async (value: string) => {
      const name = new URL(databaseUrl).pathname.slice(1)
      await db.query({ text: sql`set default_transaction_read_only = off` })
      await db.query({ text: rawSql`alter database ${name} set default_transaction_read_only = ${value}` })
      await db.query({
        text: sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      })
    }
    await setReadOnly('on')
    await expect.poll(ready).toMatchObject(unavailable(expect.stringMatching(/read-only/)))
    await setReadOnly('off')
    await expect.poll(ready).toMatchObject({ status: 200 })
    // An answer may be here before the line that was written first.
    await expect.poll(service.stdout).toContain('"msg":"readiness: ready again"')
    expect(service.stdout()).toMatch(/"reason":"the database is read-only.*"msg":"readiness: not ready"/)
  })

  test('first ends readiness, then serves for the delay, then closes the port', async () => {
    const token = await site.token(env)
    const began = Date.now()
    service.signal('SIGTERM')
    await expect.poll(ready, { interval: 10 }).toMatchObject(unavailable('the service is stopping'))
    const quota = await fetch(`${url}/api/sms/admin/quota`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"user_id":7,"limit":5}',
    })
    expect(quota.status).toBe(201)
    expect(await service.ended).toMatchObject({ code: 0, stderr: '' })
    expect(Date.now() - began).toBeGreaterThanOrEqual(3_000)
    await expect(fetch(`${url}/livez`)).rejects.toThrow()
  })
})

// What a start says when its time is over is in `start.test.ts`.
test('a start that waits for its database ends with the signal', async () => {
  const DATABASE_URL = 'postgres://u:p@127.0.0.1:1/d'
  const stopped = site.launch(['serve'], { DATABASE_URL, AUTH_SECRET, DATABASE_WAIT_SECONDS: '3600' })
  await expect.poll(stopped.stdout).toContain('database: not there yet, waiting')
  expect(await stopped.stop()).toMatchObject({ code: 0, stderr: '' })
})
