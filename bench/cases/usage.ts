/**
 * Reports over millions of past reservations: a busy user's usage of ninety days, that of a user with fifty rows a quarter
 * of an hour, all users, the top users, and the busy user's reservations. Over HTTP, one call at a time. It compacts the
 * usage before, and says how fast.
 */
import { randomBytes } from 'node:crypto'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createUsageCompaction } from '../../src/jobs/usage-compaction.ts'
import { quantile, timeOf } from '../compare.ts'
import { fillReservations, fillTotals, fillUsage, fillUsageOfAll, fillUsers } from '../fill.ts'
import { mintFor, startService } from '../servers/test-bed.ts'
import type { Bench, Findings, Row } from './bench.ts'

const DAYS = 90
const QUARTER_MS = 900_000
const GOAL_MS = 50
/** The busy user's share of the past reservations. */
const BUSY_SHARE = 0.05
/** Usage in every quarter of an hour, from each grant to each country. */
const BUSY = { days: DAYS, times: 96, grants: 2, countries: ['DE', 'AT', 'FR'] }
const CROWDED = {
  ...{ days: DAYS, times: 96, grants: 2 },
  countries: Array.from({ length: 25 }, (_, n) => String.fromCharCode(65 + n).repeat(2)),
}
/** Countries that all users together send to in each quarter of an hour. */
const COUNTRIES = 150
const USUAL = { days: DAYS, times: 2, grants: 1, countries: ['DE'] }

export async function usageCase(bench: Bench): Promise<Findings> {
  const { postgres, settings, say, now } = bench
  const { pastReservations } = settings
  const others = pastReservations / 100
  const busy = others + 1
  const crowded = others + 2
  const { db, url } = await postgres.make('bench_usage')
  say(`usage: filling ${pastReservations.toLocaleString('en')} past reservations`)
  await fillUsers(db, crowded, now)
  const busyReservations = pastReservations * BUSY_SHARE
  await fillReservations(db, busyReservations, { first: busy, count: 1 }, now)
  await fillReservations(db, pastReservations - busyReservations, { first: 1, count: others }, now)
  say(`usage: filling ${DAYS} days of usage`)
  // One in ten of the other users has usage.
  const active = others / 10
  await fillUsage(db, { first: 1, count: active }, USUAL, now)
  await fillUsage(db, { first: busy, count: 1 }, BUSY, now)
  await fillUsage(db, { first: crowded, count: 1 }, CROWDED, now)
  await fillUsageOfAll(db)
  await fillTotals(db, COUNTRIES, 35, now)
  const compacted = await compact(db, now)
  say(`  ${compacted}`)
  await postgres.checkpoint()

  const secret = randomBytes(32).toString('base64url')
  // Longer than the loaded past, so that retention deletes nothing.
  const service = await startService(bench, url, secret, { RETENTION_DAYS: '3650' })
  const headers = { authorization: `Bearer ${await mintFor('admin', secret)}` }
  const calls = settings.isQuick ? 100 : 500
  async function measure(what: string, path: string, query: Record<string, string | number>): Promise<Latencies> {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) search.set(name, String(value))
    const address = `${service.url}/api/sms/admin/quota/${path}?${search}`
    const call = async () => {
      const response = await fetch(address, { headers })
      const body = await response.text()
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${body}`)
    }
    for (let n = 0; n < calls / 10; n++) await call()
    const times: number[] = []
    for (let n = 0; n < calls; n++) times.push(await timeOf(call))
    const latencies = { what, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
    say(`  ${what}: ${figuresOf(latencies)}`)
    return latencies
  }

  say('usage: measuring')
  const to = Math.ceil(now / QUARTER_MS) * QUARTER_MS
  const since = (days: number) => ({ from: isoOf(to - days * DAY_MS), to: isoOf(to) })
  const report = { user_id: busy, ...since(DAYS), interval: 'day', time_zone: 'Europe/Berlin' }
  const reports = [
    await measure(`${DAYS} days of the busy user by day`, 'usage', report),
    await measure(`${DAYS} days of the busy user by day and country`, 'usage', { ...report, group_by: 'country' }),
  ]
  const quota = await db.query<{ id: number }>({ text: sql`select id from quota where user_id = $1`, values: [busy] })
  const ofCrowded = { ...report, user_id: crowded }
  const month = { ...since(30), interval: 'day' }
  const reportsOfAll = [
    await measure(`${DAYS} days of a user with 50 rows a quarter of an hour by day`, 'usage', ofCrowded),
    await measure('the same by day and country', 'usage', { ...ofCrowded, group_by: 'country' }),
    await measure('the summary of that user, with its forecast', 'summary', { user_id: crowded }),
    await measure('30 days of all users by day', 'usage', month),
    await measure(`the same by country, of ${COUNTRIES}`, 'usage', { ...month, group_by: 'country' }),
  ]
  const lookups = [
    await measure(`the top 10 of ${active.toLocaleString('en')} users in 30 days`, 'usage/top', since(30)),
    await measure("a page of the busy user's reservations", 'reservations', { user_id: busy }),
    await measure('the same, of one quota, committed, within one day', 'reservations', {
      ...{ quota_id: quota[0]?.id ?? 0, state: 'committed' },
      ...{ from: isoOf(to - 3 * DAY_MS), to: isoOf(to - 2 * DAY_MS) },
    }),
    await measure('the same, expired (there are none)', 'reservations', {
      user_id: busy,
      state: 'expired',
    }),
  ]
  const usageRows = BUSY.days * BUSY.times * BUSY.grants * BUSY.countries.length
  return {
    rows: reports.map(latencies => rowOf(latencies, pastReservations)),
    details: [],
    notes: [
      `The busy user has ${busyReservations.toLocaleString('en')} of ${pastReservations.toLocaleString('en')} past reservations, and ${usageRows.toLocaleString('en')} usage rows. ${calls} calls each, one at a time, over HTTP:`,
      `- ${compacted}`,
      ...[...reports, ...reportsOfAll, ...lookups].map(latencies => `- ${latencies.what}: ${figuresOf(latencies)}`),
    ],
  }
}

/** Compacts all there is, without pauses. The service does it in a third of the time. */
async function compact(db: Database, now: number): Promise<string> {
  const log = { info() {}, warn() {}, error: console.error }
  const job = createUsageCompaction({ db, log, now: () => now, timeZone: 'UTC' })
  let rows = 0
  const ms = await timeOf(async () => {
    for (let isBehind = true; isBehind; ) {
      const done = await job.compactOnce(now)
      rows += done.rows
      isBehind = done.isBehind
    }
  })
  await db.query({ text: sql`vacuum (analyze) usage, usage_day, usage_total, usage_busy` })
  return `compacted ${rows.toLocaleString('en')} rows, ${Math.round((1000 * rows) / ms).toLocaleString('en')} a second`
}

interface Latencies {
  what: string
  /** Milliseconds. */
  p50: number
  p99: number
}

function rowOf({ what, p99 }: Latencies, past: number): Row {
  return {
    what: `${what}, ${past / 1e6}M past reservations: p99`,
    peer: 'the goal',
    ours: `${p99.toFixed(1)} ms`,
    theirs: `${GOAL_MS} ms`,
    ratio: p99 / GOAL_MS,
    goal: '≤ 1×',
    isMet: p99 <= GOAL_MS,
  }
}

const figuresOf = ({ p50, p99 }: Latencies) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
const isoOf = (at: number) => new Date(at).toISOString()
