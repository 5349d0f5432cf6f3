/** The alert rules: each condition is caused once in a real service, and the rule is evaluated on what it then shows. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Registry } from '@prometheus-io/client'
import { expect, inject, test, vi } from 'vitest'
import { parse } from 'yaml'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { Unavailable } from '../../src/engine/completion.ts'
import { createMetricsPage, createMetricsServer } from '../../src/http/platform/metrics-page.ts'
import { createSlowDown } from '../../src/http/platform/slow-down.ts'
import { createJobRunner, type StepEnd } from '../../src/jobs/runner.ts'
import { createSweeper } from '../../src/jobs/sweeper.ts'
import { createDispatcher } from '../../src/jobs/webhook-dispatcher.ts'
import { createMetrics } from '../../src/metrics.ts'
import { whenDone } from '../support/cleanup.ts'
import { scratchFolder } from '../support/database-server.ts'
import { withDatabase } from '../support/database-url.ts'
import { evaluate, metricsIn, parseMetrics, type Scrape } from '../support/promql.ts'
import { PLAIN } from '../support/secrets.ts'
import { type Service, startService } from '../support/service.ts'
import { rawSql } from '../support/sql.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const textOf = (path: string) => readFileSync(resolve(ROOT, path), 'utf8')

interface Rule {
  alert: string
  expr: string
  for?: string
  annotations: { summary: string; runbook_url: string }
}

const file: { groups: { rules: Rule[] }[] } = parse(textOf('deploy/prometheus/alerts.yml'))
const rules = file.groups.flatMap(group => group.rules)
const log = { info() {}, warn() {}, error() {} }
const stopped = AbortSignal.abort()

/** How far the system time is ahead of the database's clock, for the second service. */
let aheadMs = 0
const service = await startService({ queueCommands: 1 })
const other = await startService({
  machine: { monotonic: () => performance.now(), system: () => Date.now() + aheadMs },
  env: {
    AUTH_SECRET: '',
    AUTH_JWKS_URL: 'http://127.0.0.1:9/keys',
    AUTH_ISSUER: 'https://issuer.example',
    AUTH_AUDIENCE: 'sms-quota',
  },
})
/** A service whose refusals of calls without a token are slowed soon. */
const flooded = await startService({ env: { AUTH_FAILURES_PER_MINUTE: '5' } })
const metricsServer = createMetricsServer(createMetricsPage(createMetrics()), createSlowDown(0))
const metricsUrl = await metricsServer.listen({ host: '127.0.0.1', port: 0 })
const { call, clock, databaseUrl, db, engine, metrics, senderToken } = service

// Their jobs do not run, so what they know of pauses would grow older with the time that the tests take.
for (const each of [service, other]) each.metrics.watchPauses(() => 0)

/** What Prometheus reads, with the labels that it adds. */
async function scrape(read: () => Promise<string>): Promise<Scrape> {
  const page = await read().catch(() => null)
  const target = { job: 'sms-quota', instance: 'one' }
  const samples = parseMetrics(page ?? '').map(({ name, labels, value }) => ({
    name,
    labels: { ...labels, ...target },
    value,
  }))
  return { at: Date.now() / 1_000, samples: [...samples, { name: 'up', labels: target, value: page === null ? 0 : 1 }] }
}

const metricsOf =
  ({ app }: Service) =>
  async () =>
    (await app.inject('/metrics')).body

const untilShown = (at: Service, line: RegExp) => expect.poll(metricsOf(at)).toMatch(line)

const send = (op: string, body: object) => call('POST', `/api/sms/sender/quota/${op}`, { token: senderToken, body })

// Prometheus sees an increase only of series that it has read before.
await send('consume', { user_id: 60, id: 'first', units: 1 })

const allAtOnce = (count: number, work: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, work))

/** Renames the database of a service while `work` runs, so that it does not answer. */
async function withoutDatabase({ databaseUrl }: Service, work: () => Promise<void>): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1)
  const admin = openDatabase({ url: withDatabase(inject('serverUrl'), 'postgres'), maxConnections: 1 })
  const rename = async (from: string, to: string) => {
    await admin.query({
      text: sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`,
      values: [from],
    })
    await admin.query({ text: rawSql`alter database ${from} rename to ${to}` })
  }
  await rename(name, `${name}_elsewhere`)
  await work()
  await rename(`${name}_elsewhere`, name)
  await admin.close()
}

const { folder, remove } = await scratchFolder()
whenDone(remove)
/** What the jobs of cron have written last. */
const madeAt = Date.now()
const wellBackedUp = await backUpAt(null, databaseUrl)
const written = { standby: 'sms_quota_synchronous_standbys 1\n', backup: wellBackedUp, verify: wellBackedUp }

/** What it writes with a clock that is behind, of a ledger with a difference. */
let ofOldAndWrong: Promise<string> | undefined
async function backUpOldAndWrong(): Promise<string> {
  await db.query({
    text: sql`update quota set used = used + 1 where shard = $1 and user_id = 60`,
    values: [shardOf(60)],
  })
  return backUpAt(Date.now() / 1_000 - 100_000, databaseUrl)
}

/** Runs the script of cron, with a clock that says `at` if given, and returns what it has written. */
async function backUpAt(at: number | null, url: string): Promise<string> {
  const bin = await mkdtemp(join(folder, 'bin-'))
  if (at !== null) await writeFile(join(bin, 'date'), `#!/bin/sh\necho ${Math.floor(at)}\n`, { mode: 0o755 })
  const script = resolve(ROOT, 'deploy/prometheus/backup.sh')
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    DATABASE_URL: url,
    AUTH_SECRET: 'a secret for tests only, long enough',
  }
  await promisify(execFile)(script, [bin, folder], { env }).catch(() => {})
  return textOf(join(folder, 'sms-quota.prom'))
}

interface Provocation {
  read: () => Promise<string>
  /** Causes the condition, and calls `observe` while it lasts. */
  cause(observe: () => Promise<void>): Promise<void>
}

/** An alert whose condition shows afterwards, too. */
const lasting = (work: () => Promise<unknown>, at = service): Provocation => ({
  read: metricsOf(at),
  async cause(observe) {
    await work()
    await observe()
  },
})

const PROVOCATIONS: Record<string, Provocation> = {
  SmsQuotaDown: {
    read: async () => (await fetch(`${metricsUrl}/metrics`)).text(),
    async cause(observe) {
      await metricsServer.close()
      await observe()
    },
  },

  SmsQuotaNotReady: {
    read: metricsOf(other),
    cause: observe =>
      withoutDatabase(other, async () => {
        await untilShown(other, /^sms_quota_ready 0$/m)
        await observe()
      }),
  },

  SmsQuotaCallsRefused: lasting(() => allAtOnce(30, () => send('check', { user_id: 1, units: 1 }))),

  SmsQuotaInternalErrors: lasting(async () => {
    await db.query({ text: sql`alter table webhook rename to elsewhere` })
    await call('GET', '/api/sms/admin/webhooks')
    await db.query({ text: sql`alter table elsewhere rename to webhook` })
  }),

  SmsQuotaSendersSlow: lasting(async () => {
    await call('POST', '/api/sms/admin/quota', { body: { user_id: 60, limit: 5 } })
    let answered: Promise<unknown> | undefined
    await db.transaction(async tx => {
      await tx.query({
        text: sql`select 1 from quota where shard = $1 and user_id = 60 for update`,
        values: [shardOf(60)],
      })
      answered = send('consume', { user_id: 60, id: 'waits', units: 1 })
      await tx.query({ text: sql`select pg_sleep(0.7)` })
    })
    await answered
  }),

  SmsQuotaPoolExhausted: lasting(async () => {
    const slow = allAtOnce(10, () => db.query({ text: sql`select pg_sleep(0.3)` }))
    await allAtOnce(100, () => db.query({ text: sql`select 1` }))
    await slow
  }),

  SmsQuotaJobOverdue: {
    read: metricsOf(service),
    async cause(observe) {
      const over = Promise.withResolvers<StepEnd>()
      const jobs = createJobRunner([{ name: 'stuck', step: () => over.promise }], {
        log,
        onStart: metrics.jobStarted,
        onStep: metrics.jobStep,
      })
      jobs.start()
      await observe()
      over.resolve({ isBehind: false, pauseMs: () => 0 })
      await jobs.stop()
    },
  },

  SmsQuotaJobBehind: lasting(async () => {
    await call('POST', '/api/sms/admin/quota', { body: { user_id: 61, limit: 5 } })
    await send('reserve', { user_id: 61, id: 'due', units: 1, ttl_seconds: 10 })
    const submit = () => Promise.reject(new Unavailable())
    const sweeper = createSweeper({ db, engine: { ...engine, submit }, now: () => clock.now, log })
    metrics.jobStarted({ name: sweeper.name, lagMs: () => sweeper.lagMs?.() ?? 0 })
    clock.now += 100_000
    await sweeper.sweepOnce(clock.now)
  }),

  SmsQuotaOutboxBehind: lasting(async () => {
    await call('POST', '/api/sms/admin/webhooks', { body: { url: 'https://receiver.invalid/hook' } })
    const move = (by: number) =>
      db.query({ text: sql`update shard_head set last_event = last_event + $1 where shard = 0`, values: [by] })
    await move(20_000)
    const dispatcher = createDispatcher({
      keys: PLAIN,
      db,
      log,
      now: () => clock.now,
      onPending: metrics.pendingDeliveries,
    })
    await dispatcher.dispatchOnce(clock.now, stopped)
    await move(-20_000)
  }),

  SmsQuotaWebhookFailing: lasting(async () => {
    const dispatcher = createDispatcher({
      keys: PLAIN,
      db,
      log,
      now: () => clock.now,
      onPending: metrics.pendingDeliveries,
    })
    await call('POST', '/api/sms/admin/quota', { body: { user_id: 62, limit: 5 } })
    const sending = new AbortController()
    await dispatcher.dispatchOnce(clock.now, sending.signal)
    sending.abort()
    await dispatcher.idle()
    clock.now += 7_200_000
    await dispatcher.dispatchOnce(clock.now, stopped)
    await dispatcher.finish()
  }),

  SmsQuotaTokensRefused: lasting(() => allAtOnce(120, () => call('GET', '/api/sms/me', { token: 'forged' }))),

  SmsQuotaKeysUnavailable: lasting(async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (let attempt = 0; attempt < 5; attempt++) {
      other.clock.now += 6_000
      await other.call('GET', '/api/sms/me', { token: `${part({ alg: 'RS256', kid: 'k' })}.${part({})}.AAAA` })
    }
  }, other),

  SmsQuotaClockOffset: lasting(async () => {
    aheadMs = 5_000
    await untilShown(other, /^sms_quota_clock_offset_seconds [45]/m)
  }, other),

  SmsQuotaPausesUnread: lasting(async () => metrics.watchPauses(() => 31_000)),

  SmsQuotaPumpedTraffic: lasting(async () => metrics.breakerTripped({ budget: 'hour', observed: true })),

  // A process that was busy for five minutes, as Node.js would report it.
  SmsQuotaCoreBusy: {
    read: metricsOf(service),
    async cause(observe) {
      const { user, system } = process.cpuUsage()
      const busy = vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: user + 300e6, system })
      await observe()
      busy.mockRestore()
    },
  },

  SmsQuotaDiskFilling: lasting(async () => metrics.watchDisk(() => 0.1)),

  SmsQuotaStandbyLost: {
    read: async () => written.standby,
    async cause(observe) {
      const [, command = ''] = / (psql .*sms_quota_synchronous_standbys.*) >/m.exec(textOf('docs/operations.md')) ?? []
      const [, statement = ''] = /"(select .*)"/.exec(command) ?? []
      const [row] = await db.query<Record<string, string>>({ text: rawSql`${statement}` })
      written.standby = `${Object.values(row ?? {})[0]}\n`
      await observe()
    },
  },

  SmsQuotaBackupOld: {
    read: async () => written.backup,
    cause: async observe => {
      ofOldAndWrong ??= backUpOldAndWrong()
      written.backup = await ofOldAndWrong
      await observe()
    },
  },

  SmsQuotaVerifyFailed: {
    read: async () => written.verify,
    cause: async observe => {
      ofOldAndWrong ??= backUpOldAndWrong()
      written.verify = await ofOldAndWrong
      await observe()
    },
  },

  SmsQuotaCertificateExpiring: lasting(async () => metrics.watchCertificate(() => Date.now() + DAY_MS)),
}

const seconds = (duration: string | undefined) => (duration === undefined ? 0 : Number.parseInt(duration, 10) * 60)

/** Whether the alert fires in the ten minutes after `last`, if the service stays as it was then. */
function fires({ expr, for: duration }: Rule, before: Scrape, last: Scrape): boolean {
  const scrapes = [before, ...Array.from({ length: 11 }, (_, n) => ({ ...last, at: before.at + 60 * (n + 1) }))]
  const trueSince = new Map<string, number>()
  for (const { at } of scrapes) {
    const active = new Set(evaluate(expr, scrapes, at).map(({ labels }) => JSON.stringify(labels)))
    for (const series of trueSince.keys()) if (!active.has(series)) trueSince.delete(series)
    for (const series of active) {
      const since = trueSince.get(series) ?? at
      trueSince.set(series, since)
      if (at - since >= seconds(duration)) return true
    }
  }
  return false
}

test('a backup that succeeds says when, and a verify without a difference that it did', async () => {
  expect(wellBackedUp).toMatch(/^sms_quota_backup_timestamp_seconds \d+\nsms_quota_verify_exit_code 0\n$/)
  expect(Math.abs(Number(/\d+/.exec(wellBackedUp)?.[0]) - madeAt / 1_000)).toBeLessThan(60)
  // A backup that fails leaves the time of the last one.
  const failed = await backUpAt(null, 'postgres://u:p@127.0.0.1:1/d')
  expect(failed).toBe(wellBackedUp.replace(/0\n$/, '1\n'))
})

test('no alert fires while the services are well', async () => {
  for (const each of [service, other]) {
    const now = await scrape(metricsOf(each))
    expect(rules.filter(rule => fires(rule, now, now)).map(({ alert }) => alert)).toEqual([])
  }
})

test.each(rules)('$alert fires when its condition is caused', async rule => {
  expect(rule.for ?? '1m').toMatch(/^\d+m$/)
  const provocation = PROVOCATIONS[rule.alert]
  if (provocation === undefined) throw new Error(`no test causes the condition of ${rule.alert}`)
  const { read, cause } = provocation
  const before = await scrape(read)
  expect(fires(rule, before, before)).toBe(false)
  let hasFired = false
  await cause(async () => {
    hasFired = fires(rule, before, await scrape(read))
  })
  expect(hasFired).toBe(true)
})

test('a flood of calls without a valid token does not make senders slow', async () => {
  const rule = rules.find(({ alert }) => alert === 'SmsQuotaSendersSlow')
  if (rule === undefined) throw new Error('there is no such rule')
  // Not over HTTP: the flood has the address of this test.
  const read = () => flooded.metrics.text()
  const flood = () => allAtOnce(40, () => flooded.call('POST', '/api/sms/sender/quota/check', { token: 'x', body: {} }))
  const body = { user_id: 1, units: 1 }
  await flooded.call('POST', '/api/sms/sender/quota/check', { token: flooded.senderToken, body })
  // The first calls are 401, the next 429: both series must have been read before.
  await flood()
  await flood()
  const before = await scrape(read)
  // Above the limit of an address, each refusal takes about half a second.
  await flood()
  const after = await scrape(read)
  expect(fires({ ...rule, expr: rule.expr.replace('status=~"2..|5.."', 'status=~".+"') }, before, after)).toBe(true)
  expect(fires(rule, before, after)).toBe(false)
})

test('a job is behind after a minute if callers wait for it, and after six hours if not', () => {
  const expr = rules.find(({ alert }) => alert === 'SmsQuotaJobBehind')?.expr ?? ''
  const names = ['sweeper', 'expiry notifier', 'webhook dispatcher', 'usage rollup', 'erasure', 'retention']
  const behindAfter = (seconds: number) => {
    const samples = names.map(name => ({ name: 'sms_quota_job_lag_seconds', labels: { name }, value: seconds }))
    return evaluate(expr, [{ at: 0, samples }], 0).map(({ labels }) => labels.name)
  }
  expect(behindAfter(60)).toEqual([])
  expect(behindAfter(61)).toEqual(names.slice(0, 4))
  expect(behindAfter(21_601)).toEqual(names)
})

test('the dashboard can show one instance', () => {
  const dashboard = JSON.parse(textOf('deploy/grafana/dashboard.json'))
  expect(dashboard.templating.list.map(({ name }: { name: string }) => name)).toContain('instance')
  const exprs: string[] = dashboard.panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }: { expr: string }) => expr),
  )
  for (const expr of exprs) {
    for (const name of metricsIn(expr)) expect(expr).toContain(`${name}{instance=~"$instance"`)
  }
})

test('each alert has an entry in the runbook, and each entry an alert', () => {
  const headings = [...textOf('docs/operations.md').matchAll(/^### (SmsQuota\w+)$/gm)].map(([, name]) => name)
  expect(headings).toEqual(rules.map(({ alert }) => alert))
  for (const { alert, annotations } of rules) {
    expect(annotations.runbook_url).toBe(`docs/operations.md#${alert.toLowerCase()}`)
  }
})

test('the rules and the dashboard read metrics that exist', () => {
  const registry = new Registry()
  const made = createMetrics(registry)
  made.watchCertificate(() => 0)
  made.watchDisk(() => 0)
  const names = registry.getMetricsAsArray().flatMap(({ name, type }) => {
    return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
  })
  const ofCron = parseMetrics(written.standby + written.backup).map(({ name }) => name)
  const known = new Set(['up', ...names, ...ofCron])
  const dashboard: { panels: { title: string; targets?: { expr: string }[] }[] } = JSON.parse(
    textOf('deploy/grafana/dashboard.json'),
  )
  const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  expect(shown.length).toBeGreaterThan(10)
  for (const expr of [...rules.map(rule => rule.expr), ...shown]) {
    expect(
      metricsIn(expr).filter(name => !known.has(name)),
      expr,
    ).toEqual([])
  }
})

test('a form of PromQL that the evaluation does not know fails', () => {
  const now: Scrape = { at: 0, samples: [{ name: 'a', labels: {}, value: 1 }] }
  for (const expr of [
    'a offset 5m > 1',
    'a > bool 1',
    'avg(a) > 1',
    'a and a',
    'max_over_time(a[5m]) > 1',
    'a{b!="c"} > 1',
  ]) {
    expect(() => evaluate(expr, [now], 0), expr).toThrow(/not known/)
  }
})
