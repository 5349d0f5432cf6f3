import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { METHODS } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { ConnectionLost } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { readMigrations } from '../../src/db/schema/migration-files.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { Unavailable } from '../../src/engine/completion.ts'
import { createAuthenticator } from '../../src/http/auth/authenticator.ts'
import { createExpiryNotifier } from '../../src/jobs/expiry-notifier.ts'
import { createJobRunner, type Job } from '../../src/jobs/runner.ts'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { createDispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { createMetrics } from '../../src/metrics.ts'
import { serve } from '../support/listening.ts'
import { PLAIN } from '../support/secrets.ts'
import { startService } from '../support/service.ts'

/** Each route of the server, with its methods. */
const routes: { method: string; url: string }[] = []
const noteRoutes = (message: unknown) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) routes.push({ method: name, url })
  })
}
subscribe('fastify.initialization', noteRoutes)
const service = await startService()
unsubscribe('fastify.initialization', noteRoutes)
const observing = await startService({ observe: true })
const { call, senderToken, metrics, db, engine, clock } = service
const log = { info() {}, warn() {}, error() {} }

/** The value of a line of `/metrics`; NaN if there is none. */
async function metricOf(series: string): Promise<number> {
  const { body } = await call('GET', '/metrics', { token: null })
  const lines: string[] = body.split('\n')
  return Number(lines.find(line => line.startsWith(`${series} `))?.slice(series.length + 1) ?? Number.NaN)
}

const consume = (body: object) => call('POST', '/api/sms/sender/quota/consume', { token: senderToken, body })

test('say what runs, whether it is ready, and how far the clocks differ', async () => {
  const { body } = await call('GET', '/metrics', { token: null })
  expect(body).toMatch(
    /^sms_quota_build_info\{version="\d+\.\d+\.\d+",node="v\d+\.[\d.]+",time_zones="20\d\d[a-z]",postgres="\d+\.\d+"\} 1$/m,
  )
  expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
  const last = (await readMigrations()).at(-1)
  expect(await metricOf('sms_quota_schema_number')).toBe(last?.number)
  expect(await metricOf('sms_quota_ready')).toBe(1)
  // Both clocks are this machine's.
  expect(Math.abs(await metricOf('sms_quota_clock_offset_seconds'))).toBeLessThan(5)
})

test('say how long the event loop was held', async () => {
  const until = performance.now() + 500
  while (performance.now() < until);
  while (!((await metricOf('nodejs_eventloop_lag_max_seconds')) >= 0.3)) await new Promise(setImmediate)
})

test('stay below 600 KB, with each answer of each route, and calls of any method that have none', async () => {
  const all = createMetrics()
  expect(routes.length).toBeGreaterThan(100)
  for (const status of [200, 201, 202, 204, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 429, 500, 503]) {
    for (const { method, url } of routes) all.request(url, method, status, 0.01)
    for (const method of METHODS) all.request(null, method, status, 0.01)
  }
  const text = await all.text()
  const seriesOf = (labels: string) => text.split('\n').filter(line => line.includes(labels)).length
  // Ten buckets, their sum and two counts, for each class of statuses.
  expect(seriesOf('route="/api/sms/sender/quota/check"')).toBe(3 * 13)
  expect(seriesOf('route="/api/sms/admin/plans/:id"')).toBe(3 * 3 * 13)
  expect(seriesOf('route="none"')).toBe(3 * 13)
  expect(text.length).toBeLessThan(600_000)
})

test('count the errors answered by code, those of operations in a batch too', async () => {
  const count = (code: string) => metricOf(`sms_quota_problems_total{code="${code}"}`)
  await call('GET', '/api/sms/admin/quota/list', { token: 'forged' })
  await call('GET', '/api/sms/admin/quota/list', { token: senderToken })
  await consume({ user_id: 1 })
  const operations = [{ op: 'commit', user_id: 1, id: 'unknown' }]
  await call('POST', '/api/sms/sender/quota/batch', { token: senderToken, body: { operations } })
  expect(await count('unauthenticated')).toBe(1)
  expect(await count('forbidden')).toBe(1)
  expect(await metricOf('sms_quota_refused_tokens_total{reason="malformed"}')).toBe(1)
  expect(await metricOf('sms_quota_refused_tokens_total{reason="missing_role"}')).toBe(1)
  expect(await count('internal')).toBe(0)
  expect(await count('invalid_request')).toBe(1)
  expect(await count('not_found')).toBe(1)
})

describe('count denials by their reason', async () => {
  const user = 40
  const denied = (reason: string) =>
    metricOf(`sms_quota_commands_total{op="consume",outcome="denied",reason="${reason}"}`)
  const cap = { kind: 'cap', limit: 0, countries: ['FR'] }
  test.each([
    ['no_quota', { id: 'a', units: 1 }, []],
    ['quota_exhausted', { id: 'b', units: 6 }, [{ limit: 5 }]],
    ['cap_reached', { id: 'c', units: 1, country: 'FR' }, [cap]],
  ])('%s', async (reason, message, quotas) => {
    for (const quota of quotas) await call('POST', '/api/sms/admin/quota', { body: { user_id: user, ...quota } })
    expect((await consume({ user_id: user, ...message })).body).toMatchObject({ granted: false, reason })
    expect(await denied(reason)).toBe(1)
  })

  test('and in observe mode those that would be', async () => {
    const body = { user_id: user, id: 'a', units: 1 }
    await observing.call('POST', '/api/sms/sender/quota/consume', { token: observing.senderToken, body })
    expect((await observing.call('GET', '/metrics', { token: null })).body).toContain(
      'sms_quota_commands_total{op="consume",outcome="granted",reason="no_quota"} 1',
    )
  })
})

test('show the use of each pool, and the time waited for its connections', async () => {
  const waits = () => metricOf('sms_quota_pool_wait_seconds_count{pool="calls"}')
  const before = await waits()
  const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const held = db.transaction(async () => {
    entered.resolve()
    await leave.promise
  })
  await entered.promise
  expect(await waits()).toBe(before + 1)
  expect(await metricOf('sms_quota_pool_connections{pool="calls",state="used"}')).toBe(1)
  expect(await metricOf('sms_quota_pool_max_connections{pool="calls"}')).toBe(10)
  const others = Array.from({ length: 12 }, () => db.query({ text: sql`select pg_sleep(0.05)` }))
  expect(await metricOf('sms_quota_pool_waiting{pool="calls"}')).toBeGreaterThan(0)
  leave.resolve()
  await Promise.all([held, ...others])
  expect(await metricOf('sms_quota_pool_waiting{pool="calls"}')).toBe(0)
  expect(await metricOf('sms_quota_pool_connections{pool="calls",state="used"}')).toBe(0)
})

test('show the steps of a job, when the next is due, and its lag', async () => {
  const over = Promise.withResolvers<void>()
  const outcomes = [new ConnectionLost('away', 'test'), new Error('a bug'), null]
  const job: Job = {
    name: 'work',
    lagMs: () => 7_000,
    async step() {
      const failure = outcomes.shift()
      if (failure) throw failure
      return { isBehind: false, pauseMs: () => HOUR_MS }
    },
  }
  const startedAt = Date.now() / 1_000
  const jobs = createJobRunner([job], {
    log,
    retryMs: 0,
    onStart: metrics.jobStarted,
    onStep(report) {
      metrics.jobStep(report)
      if (report.outcome === 'done') over.resolve()
    },
  })
  jobs.start()
  await over.promise
  await jobs.stop()
  for (const outcome of ['unavailable', 'failed', 'done']) {
    expect(await metricOf(`sms_quota_job_steps_total{name="work",outcome="${outcome}"}`)).toBe(1)
  }
  expect(await metricOf('sms_quota_job_step_seconds_count{name="work"}')).toBe(3)
  expect(await metricOf('sms_quota_job_lag_seconds{name="work"}')).toBe(7)
  const success = await metricOf('sms_quota_job_last_success_timestamp_seconds{name="work"}')
  expect(success).toBeGreaterThanOrEqual(startedAt)
  expect(await metricOf('sms_quota_job_due_timestamp_seconds{name="work"}')).toBeGreaterThan(success + 3_599)
})

test('a job that fails stays due, and its lag stays while the clock is in doubt', async () => {
  let isDoubted = false
  metrics.jobStarted({
    name: 'doubtful',
    lagMs() {
      if (isDoubted) throw new Error('no time')
      return 2_000
    },
  })
  const due = await metricOf('sms_quota_job_due_timestamp_seconds{name="doubtful"}')
  metrics.jobStep({ name: 'doubtful', outcome: 'failed', tookMs: 1, pauseMs: HOUR_MS })
  isDoubted = true
  expect(await metricOf('sms_quota_job_due_timestamp_seconds{name="doubtful"}')).toBe(due)
  expect(await metricOf('sms_quota_job_lag_seconds{name="doubtful"}')).toBe(2)
})

test('the lag of the sweeper is that of the oldest reservation that is due and not closed', async () => {
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 50, limit: 5 } })
  const body = { user_id: 50, id: 'due', units: 1, ttl_seconds: 10 }
  await call('POST', '/api/sms/sender/quota/reserve', { token: senderToken, body })
  let isAway = true
  const sweeper = createSweeper({
    db,
    log,
    now: () => clock.now,
    engine: { submit: command => (isAway ? Promise.reject(new Unavailable()) : engine.submit(command)) },
  })
  expect(sweeper.lagMs?.()).toBe(0)
  clock.now += 40_000
  await sweeper.sweepOnce(clock.now)
  expect(sweeper.lagMs?.()).toBe(30_000)
  isAway = false
  await sweeper.sweepOnce(clock.now)
  expect(sweeper.lagMs?.()).toBe(0)
  clock.now += 5_000
  expect(sweeper.lagMs?.()).toBe(5_000)
})

test('the lag of the expiry notifier is that of the first expiry without an event', async () => {
  const body = { user_id: 51, limit: 5, expires_at: new Date(clock.now + 10_000).toISOString() }
  await call('POST', '/api/sms/admin/quota', { body })
  const notifier = createExpiryNotifier({ db, now: () => clock.now })
  clock.now += 25_000
  const stopped = AbortSignal.abort()
  await notifier.notifyOnce(clock.now, stopped)
  expect(notifier.lagMs?.()).toBe(15_000)
  await notifier.notifyOnce(clock.now)
  expect(notifier.lagMs?.()).toBe(0)
})

test('show how many deliveries wait, since when, and how far behind the outbox a webhook is', async () => {
  const url = 'https://receiver.invalid/hook'
  const { body } = await call('POST', '/api/sms/admin/webhooks', { body: { url } })
  expect(body.id).toBeGreaterThan(0)
  await call('POST', '/api/sms/admin/quota', { body: { user_id: 52, limit: 5 } })
  const dispatcher = createDispatcher({
    keys: PLAIN,
    db,
    log,
    now: () => clock.now,
    onPending: metrics.pendingDeliveries,
  })
  const stopped = AbortSignal.abort()
  await dispatcher.dispatchOnce(clock.now, stopped)
  expect(await metricOf('sms_quota_webhook_behind_events')).toBe(1)
  clock.now += 20_000
  const sending = new AbortController()
  await dispatcher.dispatchOnce(clock.now, sending.signal)
  sending.abort()
  await dispatcher.idle()
  clock.now += 20_000
  await dispatcher.dispatchOnce(clock.now, stopped)
  expect(await metricOf('sms_quota_webhook_behind_events')).toBe(0)
  expect(await metricOf('sms_quota_webhook_pending')).toBe(1)
  expect(await metricOf('sms_quota_webhook_oldest_pending_seconds')).toBe(20)
  await dispatcher.finish()
})

test('show when the keys of the key server were fetched, and count failures', async () => {
  let status = 503
  const url = await serve((_, response) => response.writeHead(status).end('{"keys":[]}'))
  const fetched: boolean[] = []
  let now = clock.now
  const authenticator = await createAuthenticator(
    {
      dataDir: '/',
      auth: {
        key: { kind: 'jwks', url },
        issuer: 'https://issuer.example',
        audience: 'sms-quota',
        tokenType: null,
        userClaim: 'sub',
        userRefClaim: null,
        rolesClaim: 'roles',
        adminRole: 'admin',
        senderRole: 'sender',
        auditorRole: 'auditor',
        supportRole: 'support',
        forceRole: 'force',
        senderUsersClaim: null,
      },
    },
    {
      now: () => now,
      log: { info() {}, error() {} },
      onKeysFetched(isFetched) {
        fetched.push(isFetched)
        metrics.keysFetched(isFetched)
      },
    },
  )
  const token = `Bearer ${Buffer.from('{"alg":"RS256","kid":"1"}').toString('base64url')}.e30.AAAA`
  const ask = async () => authenticator.authenticate(token)
  await expect(ask()).rejects.toMatchObject({ code: 'unavailable' })
  status = 200
  now += 10_000
  await expect(ask()).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(fetched).toEqual([false, true])
  expect(await metricOf('sms_quota_auth_key_fetch_failures_total')).toBe(1)
  expect(await metricOf('sms_quota_auth_keys_fetched_timestamp_seconds')).toBeGreaterThan(Date.now() / 1_000 - 60)
})
