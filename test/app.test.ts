import { SignJWT } from 'jose'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { createQuota } from '../src/admin/quotas/create-quota.ts'
import { createApp, type Overrides } from '../src/app.ts'
import { loadConfig } from '../src/config/config.ts'
import type { Database } from '../src/db/connection/database.ts'
import { sql } from '../src/db/connection/sql.ts'
import { DAY_MS } from '../src/domain/time/time.ts'
import { whenDone } from './support/cleanup.ts'
import { freshDatabase } from './support/database.ts'
import { openTransaction } from './support/engine.ts'
import { parseMetrics } from './support/promql.ts'

const SECRET = 'a secret for tests only, long enough for HS256'

const author = () => ({ now: Date.now() - 1_000, actor: 'ada', requestId: 'test' })

/** The service on a database, by default of its own, and calls of a user who is a sender and an administrator, too. */
async function startApp(settings: Record<string, string>, overrides: Overrides, database = freshDatabase()) {
  const { url, db } = await database
  const loaded = loadConfig({ AUTH_SECRET: SECRET, DATABASE_URL: url, ...settings })
  if ('issues' in loaded) throw new Error('the configuration is wrong')
  const app = await createApp(loaded.config, pino({ level: 'silent' }), overrides)
  whenDone(() => app.close())
  const claims = {
    sub: '7',
    roles: ['sms-quota:sender', 'sms-quota:admin'],
    exp: Math.floor(Date.now() / 1000) + 3_600,
  }
  const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SECRET))
  const call = (method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) =>
    app.server.inject({
      method,
      url: path,
      headers: { authorization: `Bearer ${token}` },
      ...(payload === undefined ? {} : { payload }),
    })
  return { app, db, call }
}

test('while the clock is in doubt nothing is served, and once the database confirms it everything is', async () => {
  let jump = 0
  const machine = { monotonic: () => performance.now(), system: () => Date.now() + jump }
  const { call } = await startApp({}, { runJobs: false, machine })
  const consume = () => call('POST', '/api/sms/sender/quota/consume', { user_id: 7, id: 'm', units: 1 })

  expect((await consume()).statusCode).toBe(200)
  jump = DAY_MS
  for (const answer of [await consume(), await call('GET', '/api/sms/quota/summary')]) {
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.json()).toMatchObject({ code: 'unavailable' })
  }
  // One check a second synchronizes the clock.
  await expect.poll(async () => (await consume()).statusCode).toBe(200)
  expect((await call('GET', '/readyz')).statusCode).toBe(200)
  expect((await call('GET', '/api/sms/quota/summary')).statusCode).toBe(200)
})

test('a clock in doubt is a reason against readiness, until two synchronizations agree', async () => {
  let jump = 0
  const machine = { monotonic: () => performance.now() + jump, system: Date.now }
  const { call } = await startApp({}, { runJobs: false, machine })
  const ready = () => call('GET', '/readyz')

  expect((await ready()).statusCode).toBe(200)
  const jumping = async () => {
    jump += DAY_MS
    return (await ready()).json()
  }
  await expect.poll(jumping).toMatchObject({ detail: expect.stringContaining('have jumped apart') })
  await expect.poll(async () => (await ready()).statusCode).toBe(200)
})

describe('people, jobs and readiness do not wait for connections of each other', async () => {
  const { app, db, call } = await startApp({ DATABASE_POOL_SIZE: '2' }, {})

  /** Holds this many connections while `work` runs. */
  async function whileBusy(pool: Database, connections: number, work: () => Promise<void>): Promise<void> {
    const held = await Promise.all(Array.from({ length: connections }, () => openTransaction(pool, async () => {})))
    try {
      await work()
    } finally {
      await Promise.all(held.map(transaction => transaction.commit()))
    }
  }

  test('while people hold all of theirs, the service is ready and a due reservation is closed', async () => {
    await db.transaction(tx => createQuota(tx, { user_id: 7, limit: 10 }, author()))
    const reserve = { user_id: 7, id: 'm', units: 1, ttl_seconds: 1 }
    expect((await call('POST', '/api/sms/sender/quota/reserve', reserve)).json()).toMatchObject({ granted: true })
    await whileBusy(app.parts.db, 2, async () => {
      expect((await call('GET', '/readyz')).statusCode).toBe(200)
      const isExpired = () => db.query({ text: sql`select expired from reservation where id = 'm'` })
      await expect.poll(isExpired).toEqual([{ expired: true }])
    })
  })

  test('while jobs hold all of theirs, people are served', async () => {
    await whileBusy(app.parts.jobsDb, 4, async () => {
      expect((await call('GET', '/api/sms/quota/summary')).statusCode).toBe(200)
      expect((await call('GET', '/readyz')).statusCode).toBe(200)
    })
  })
})

test('a pause made by one process holds at another, also while that cannot read pauses and says so, until it is lifted', async () => {
  const database = freshDatabase()
  const [one, other] = [await startApp({}, { runJobs: false }, database), await startApp({}, {}, database)]
  const { db } = one
  await db.transaction(tx => createQuota(tx, { user_id: 7, limit: 10 }, author()))
  const check = async () =>
    (await other.call('POST', '/api/sms/sender/quota/check', { user_id: 7, units: 1, country: 'FR' })).json()
  const age = async () =>
    parseMetrics((await other.call('GET', '/metrics')).body).find(({ name }) => name === 'sms_quota_pauses_age_seconds')
      ?.value
  expect(await check()).toMatchObject({ granted: true })
  const made = await one.call('POST', '/api/sms/admin/pauses', { user_id: 7, country: 'FR' })
  const { id } = made.json()
  await expect.poll(check).toMatchObject({ granted: false, reason: 'destination_paused', pause: { id } })

  await db.query({ text: sql`alter table pause_state rename to elsewhere` })
  // More than what passes between two reads.
  await expect.poll(age).toBeGreaterThan(2)
  expect(await check()).toMatchObject({ pause: { id } })
  await db.query({ text: sql`alter table elsewhere rename to pause_state` })
  await expect.poll(age).toBeLessThan(2)
  expect((await one.call('DELETE', `/api/sms/admin/pauses/${id}`)).statusCode).toBe(204)
  await expect.poll(check).toMatchObject({ granted: true })
})

test('every job has a lag, which rises while it cannot do its work and falls to 0 after it', async () => {
  const { app, db, call } = await startApp({}, {})
  const samplesOf = async (name: string) =>
    parseMetrics((await call('GET', '/metrics')).body).filter(sample => sample.name === name)
  const lags = async () =>
    new Map((await samplesOf('sms_quota_job_lag_seconds')).map(({ labels, value }) => [labels.name, value]))
  const jobs = (await samplesOf('sms_quota_job_due_timestamp_seconds')).map(({ labels }) => labels.name)
  expect(jobs.length).toBeGreaterThan(12)
  // The alert names those for which callers wait.
  expect(jobs).toEqual(expect.arrayContaining(['sweeper', 'expiry notifier', 'webhook dispatcher', 'usage rollup']))
  expect([...(await lags()).keys()].sort()).toEqual(jobs.sort())

  // The one that is due most often.
  const lagOfWebhooks = async () => (await lags()).get('webhook dispatcher') ?? 0
  await db.query({ text: sql`alter table webhook rename to elsewhere` })
  await expect.poll(lagOfWebhooks).toBeGreaterThan(0.5)
  await db.query({ text: sql`alter table elsewhere rename to webhook` })
  await expect.poll(lagOfWebhooks).toBe(0)
  await app.close()
})
