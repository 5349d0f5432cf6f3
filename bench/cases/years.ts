/**
 * A platform after three years: how large its tables are, what a day's work costs each background loop, and how long lists,
 * searches, summaries and reports take. The years are filled in compressed form (`fill-years.ts`).
 */
import { type Database, openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { DAY_MS, type EpochMs } from '../../src/domain/time/time.ts'
import { createAlertCleaner } from '../../src/jobs/cleaners.ts'
import { createDenialRetention } from '../../src/jobs/denial-retention.ts'
import { createDueReader } from '../../src/jobs/due-reader.ts'
import { createEventRetention } from '../../src/jobs/event-retention.ts'
import { createExpiryNotifier } from '../../src/jobs/expiry-notifier.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { createUsageCompaction } from '../../src/jobs/usage-compaction.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { createWebhookRetention } from '../../src/jobs/webhook-retention.ts'
import { quantile, timeOf } from '../compare.ts'
import { fillYears, type Platform } from '../fill-years.ts'
import { mintFor, newSecret, startService } from '../servers/test-bed.ts'
import type { Bench, Findings, Row } from './bench.ts'

const FULL: Platform = { users: 20_000, messages: 5, events: 5_000, denials: 20_000 }
const QUICK: Platform = { users: 2_000, messages: 5, events: 500, denials: 2_000 }
const GOAL_MS = 100

export async function yearsCase(bench: Bench): Promise<Findings> {
  const { postgres, settings, say, now } = bench
  const platform = settings.isQuick ? QUICK : FULL
  const { db, url } = await postgres.make('bench_years')
  say(`years: filling three years of ${platform.users.toLocaleString('en')} users`)
  await fillYears(db, platform, now, say)
  await postgres.checkpoint()
  const sizes = await sizesOf(db)

  say('years: reading')
  const reads = await measureReads(bench, url, platform)
  say('years: a day later, every background loop')
  const loops = await measureLoops(bench, url)
  return {
    rows: reads.map(rowOf),
    details: [],
    notes: [
      `Three years of ${platform.users.toLocaleString('en')} users who send ${platform.messages} messages a day each, with ${platform.events.toLocaleString('en')} events and ${platform.denials.toLocaleString('en')} logged denials a day, in compressed form: what retention and compaction leave, written directly.`,
      '',
      ...tableOf(['table', 'rows', 'size with indexes'], sizes),
      '',
      `What became due in one day, done at once:`,
      '',
      ...tableOf(['loop', 'rows', 'time', 'CPU Node.js', 'CPU PostgreSQL'], loops),
    ],
  }
}

async function sizesOf(db: Database): Promise<string[][]> {
  const rows = await db.query<{ name: string; rows: number; size: string }>({
    text: sql`select relname as name, greatest(0, reltuples)::bigint as rows, pg_size_pretty(pg_total_relation_size(oid)) as size
      from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and reltuples > 0
      order by pg_total_relation_size(oid) desc`,
  })
  return rows.map(({ name, rows, size }) => [`\`${name}\``, rows.toLocaleString('en'), size])
}

interface Read {
  what: string
  /** Milliseconds. */
  p50: number
  p99: number
}

/** Calls over HTTP, one at a time; users and places in a list vary from call to call. */
async function measureReads(bench: Bench, url: string, { users }: Platform): Promise<Read[]> {
  const secret = newSecret()
  // Longer than all that was filled: the loops are measured apart.
  const kept = { RETENTION_DAYS: '3650', EVENT_RETENTION_DAYS: '3650', DENIAL_RETENTION_DAYS: '365' }
  const service = await startService(bench, url, secret, kept)
  const headers = { authorization: `Bearer ${await mintFor('admin', secret)}` }
  const calls = bench.settings.isQuick ? 100 : 300
  const reads: Read[] = []
  for (const [what, pathOf] of Object.entries(readsOf(users, bench.now))) {
    const times: number[] = []
    for (let n = 0; n < calls + 20; n++) {
      const address = `${service.url}/api/sms/admin/${pathOf(n)}`
      const ms = await timeOf(async () => {
        const response = await fetch(address, { headers })
        const body = await response.text()
        if (!response.ok) throw new Error(`${address} answered ${response.status}: ${body}`)
      })
      if (n >= 20) times.push(ms)
    }
    reads.push({ what, p50: quantile(times, 0.5), p99: quantile(times, 0.99) })
    bench.say(`  ${what}: p99 ${quantile(times, 0.99).toFixed(1)} ms`)
  }
  return reads
}

function readsOf(users: number, now: EpochMs): Record<string, (n: number) => string> {
  const user = (n: number) => 1 + ((n * 7_919) % users)
  const day = (offset: number) => new Date(Math.floor(now / DAY_MS) * DAY_MS - offset * DAY_MS).toISOString()
  const span = (from: number) => `from=${day(from)}&to=${day(0)}&interval=${from > 400 ? 'month' : 'day'}`
  return {
    'a user’s quotas': n => `quota/list?user_id=${user(n)}`,
    'a user’s summary, with its forecast': n => `quota/summary?user_id=${user(n)}`,
    'a user’s usage, 90 days': n => `quota/usage?user_id=${user(n)}&${span(90)}`,
    'a user’s usage, 3 years by month': n => `quota/usage?user_id=${user(n)}&${span(1_000)}`,
    'a user’s reservations': n => `quota/reservations?user_id=${user(n)}`,
    'a user’s denials': n => `denials?user_id=${user(n)}`,
    'all quotas, newest first': () => 'quota/list',
    'all quotas, by name': () => 'quota/list?sort=name',
    'all quotas, by their end': () => 'quota/list?sort=expires_at',
    'active quotas of all users': () => 'quota/list?status=active',
    'exhausted quotas of all users': () => 'quota/list?status=exhausted',
    'deleted quotas of all users': () => 'quota/list?status=deleted',
    'expired quotas of all users': () => 'quota/list?status=expired',
    'quotas whose name begins with': n => `quota/list?name=package%20of%20user%20${user(n)}`,
    alerts: () => 'quota/alerts',
    'all reservations': () => 'quota/reservations',
    'all denials': () => 'denials',
    'denials of a message': n => `denials?id=d-${1 + n}`,
    'usage of all users, 30 days': () => `quota/usage?${span(30)}`,
    'usage of all users, 30 days by country': () => `quota/usage?${span(30)}&group_by=country`,
    'usage of all users, 3 years by month': () => `quota/usage?${span(1_000)}`,
    'top users of 30 days': () => `quota/usage/top?from=${day(30)}&to=${day(0)}`,
    'search for a user': n => `search?q=${user(n)}`,
    'search for a reference': n => `search?q=contract-${user(n)}`,
    'search for a message': n => `search?q=m-${user(n)}-1080-0`,
    'directory of users': () => 'users',
    'the last 100 events': () => 'events?last=100&limit=100',
    'deliveries of a webhook': () => 'webhooks/65/deliveries',
  }
}

/** Runs each loop until nothing is left to do, on connections as the service's jobs have them. */
async function measureLoops({ postgres, cleanup, say, now }: Bench, url: string): Promise<string[][]> {
  const log = { info() {}, warn() {}, error: console.error }
  const db = openDatabase({ url, maxConnections: 4 })
  cleanup.add(() => db.close())
  const patient = openDatabase({ url, maxConnections: 1, statementTimeout: 0 })
  cleanup.add(() => patient.close())
  const later = (Math.floor(now / DAY_MS) + 1) * DAY_MS
  const rows: string[][] = []
  for (const [name, run] of Object.entries(loopsOf(db, patient, later, log))) {
    const [node, server] = [process.cpuUsage(), await postgres.cpu()]
    let done = 0
    const ms = await timeOf(async () => {
      done = await run()
    })
    const { user, system } = process.cpuUsage(node)
    const spent = server === null ? null : ((await postgres.cpu()) ?? server) - server
    const seconds = (value: number) => `${value.toFixed(2)} s`
    rows.push([
      name,
      done.toLocaleString('en'),
      seconds(ms / 1000),
      seconds((user + system) / 1e6),
      spent === null ? '–' : seconds(spent),
    ])
    say(`  ${rows.at(-1)?.join(', ')}`)
  }
  return rows
}

type Log = Parameters<typeof createUsageRollup>[0]['log']

/** Each resolves to the number of rows that it removed, moved, emitted or read. */
function loopsOf(db: Database, patient: Database, at: EpochMs, log: Log): Record<string, () => Promise<number>> {
  const clock = { db, now: () => at, log }
  /** Repeats a step until it has nothing left. */
  async function repeat(step: () => Promise<{ done: number; isBehind: boolean }>): Promise<number> {
    for (let sum = 0; ; ) {
      const { done, isBehind } = await step()
      sum += done
      if (!isBehind) return sum
    }
  }
  const retention = createRetention(clock)
  const events = createEventRetention({ ...clock, retentionMs: 90 * DAY_MS })
  const denials = createDenialRetention({ ...clock, retentionMs: 7 * DAY_MS })
  const compaction = createUsageCompaction({ ...clock, timeZone: 'UTC' })
  const rollup = createUsageRollup(clock)
  const alerts = createAlertCleaner(clock)
  const notifier = createExpiryNotifier(clock)
  const webhooks = createWebhookRetention(clock)
  return {
    'retention of reservations': () =>
      repeat(async () => retention.removeOnce(at).then(({ removed: done, isBehind }) => ({ done, isBehind }))),
    'retention of events': () =>
      repeat(async () => events.removeOnce(at).then(({ removed: done, isBehind }) => ({ done, isBehind }))),
    'retention of denials': () =>
      repeat(async () => denials.removeOnce(at).then(({ removed: done, isBehind }) => ({ done, isBehind }))),
    'retention of deliveries': async () => {
      const before = await countDeliveries(db)
      await repeat(async () => ({ done: 0, ...(await webhooks.removeOnce(at)) }))
      return before - (await countDeliveries(db))
    },
    'compaction of usage': () =>
      repeat(async () => compaction.compactOnce(at).then(({ rows: done, isBehind }) => ({ done, isBehind }))),
    'usage rollup, idle': () =>
      repeat(async () => rollup.rollUpOnce().then(({ rows: done, isBehind }) => ({ done, isBehind }))),
    'alert cleaner': () =>
      repeat(async () => alerts.removeOnce(at).then(({ removed: done, isBehind }) => ({ done, isBehind }))),
    'expiry notifier': () =>
      repeat(async () => notifier.notifyOnce(at).then(({ emitted: done, isBehind }) => ({ done, isBehind }))),
    'sweeper, its daily walk back': () => walkBack(db, at),
    'verify, all of it': async () => {
      const { proofs, differences } = await verify(patient)
      if (differences.length > 0) throw new Error(`verify found: ${differences[0]?.message}`)
      return [...proofs.values()].reduce((sum, { checked }) => sum + checked, 0)
    },
  }
}

async function countDeliveries(db: Database): Promise<number> {
  const [row] = await db.query<{ count: number }>({ text: sql`select count(*) as count from webhook_delivery` })
  return row?.count ?? 0
}

async function walkBack(db: Database, at: EpochMs): Promise<number> {
  let due = 0
  const reader = createDueReader(db, () => {
    due += 1
  })
  while (!(await reader.readDue(at)));
  while (await reader.readPast(at));
  return due
}

function rowOf({ what, p50, p99 }: Read): Row {
  return {
    what: `years: ${what}, p99`,
    peer: `p50 ${p50.toFixed(1)} ms`,
    ours: `${p99.toFixed(1)} ms`,
    theirs: `${GOAL_MS} ms`,
    ratio: p99 / GOAL_MS,
    goal: '≤ 1×',
    isMet: p99 <= GOAL_MS,
  }
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)]
}
