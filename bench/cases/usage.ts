/**
 * Reports over millions of past reservations: a busy user's usage of ninety days, the top users, and the busy user's
 * reservations. Over HTTP, one call at a time.
 */

import { randomBytes } from 'node:crypto'
import { DAY_MS } from '../../src/domain/time.ts'
import { quantile, timeOf } from '../compare.ts'
import { fillReservations, fillUsage, fillUsers } from '../fill.ts'
import { mintFor, startService } from '../servers/test-bed.ts'
import type { Bench, Findings, Row } from './bench.ts'

const DAYS = 90
const QUARTER_MS = 900_000
const GOAL_MS = 50
/** The busy user's share of the past reservations. */
const BUSY_SHARE = 0.05
/** Usage in every quarter of an hour, from each grant to each country. */
const BUSY = { days: DAYS, times: 96, grants: 2, countries: ['DE', 'AT', 'FR'] }
const USUAL = { days: DAYS, times: 2, grants: 1, countries: ['DE'] }

export async function usageCase(bench: Bench): Promise<Findings> {
  const { postgres, settings, say, now } = bench
  const { pastReservations } = settings
  const others = pastReservations / 100
  const busy = others + 1
  const { db, url } = await postgres.make('bench_usage')
  say(`usage: filling ${pastReservations.toLocaleString('en')} past reservations`)
  await fillUsers(db, busy, now)
  const busyReservations = pastReservations * BUSY_SHARE
  await fillReservations(db, busyReservations, { first: busy, count: 1 }, now)
  await fillReservations(db, pastReservations - busyReservations, { first: 1, count: others }, now)
  say(`usage: filling ${DAYS} days of usage`)
  // One in ten of the other users has usage.
  const active = others / 10
  await fillUsage(db, { first: 1, count: active }, USUAL, now)
  await fillUsage(db, { first: busy, count: 1 }, BUSY, now)
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
  const quota = await db.query<{ id: number }>({ text: 'select id from quota where user_id = $1', values: [busy] })
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
      ...[...reports, ...lookups].map(latencies => `- ${latencies.what}: ${figuresOf(latencies)}`),
    ],
  }
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
