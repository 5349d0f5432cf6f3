import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import { BUDGET_NAMES } from '../domain/pauses/breaker.ts'
import { ERRORS, type ErrorCode } from '../errors.ts'
import { gaugeAtScrape } from './gauge-at-scrape.ts'

/** What runs. */
interface Build {
  /** Of the service. */
  version: string
  node: string
  /** Of the time zone data of Node.js, such as `2026c`. */
  timeZones: string
  postgres: string
  /** The number of the last migration. */
  schema: number
}

export interface ServiceMetrics {
  build(build: Build): void
  /** Read at each scrape. */
  watchReadiness(isReady: () => boolean): void
  /** Read at each scrape: how far the system time is ahead of the database's clock, in milliseconds. */
  watchClock(aheadMs: () => number): void
  /** Read at each scrape: how long ago this process last read the paused destinations, in milliseconds. */
  watchPauses(ageMs: () => number): void
  /** The breaker found pumped traffic to a destination. */
  breakerTripped(trip: { readonly budget: (typeof BUDGET_NAMES)[number]; readonly observed: boolean }): void
  /** A call, or an operation of a batch, was answered with an error. Refused tokens have a reason. */
  problem(problem: { readonly code: ErrorCode; readonly reason?: string | undefined }): void
  /** The keys that verify tokens were fetched from the key server, or could not be. */
  keysFetched(isFetched: boolean): void
}

/** @param now milliseconds since 1970 on the clock that Prometheus compares with: this machine's */
export function serviceMetrics(registers: Registry[], now: () => number): ServiceMetrics {
  const build = new Gauge({
    name: 'sms_quota_build_info',
    help: 'Always 1. The labels are the versions of the service, of Node.js, of its time zone data and of the PostgreSQL server.',
    labelNames: ['version', 'node', 'time_zones', 'postgres'],
    registers,
  })
  const schema = new Gauge({
    name: 'sms_quota_schema_number',
    help: 'The number of the last migration that the database had when this process started.',
    registers,
  })
  const watchReady = gaugeAtScrape(registers, 'sms_quota_ready', 'Whether the service can serve: 1, or 0.')
  const watchAhead = gaugeAtScrape(
    registers,
    'sms_quota_clock_offset_seconds',
    "How far the system time of this machine is ahead of the database's clock. The service follows the database's.",
  )
  const watchPauseAge = gaugeAtScrape(
    registers,
    'sms_quota_pauses_age_seconds',
    'How long ago this process last read the paused destinations. Until it can read them again, it obeys those that it knows.',
  )
  const problems = new Counter({
    name: 'sms_quota_problems_total',
    help: 'Errors answered, by code; each operation of a batch counts.',
    labelNames: ['code'],
    registers,
  })
  const refused = new Counter({
    name: 'sms_quota_refused_tokens_total',
    help: 'Calls that were refused for their token: 401 and 403, by reason.',
    labelNames: ['reason'],
    registers,
  })
  const trips = new Counter({
    name: 'sms_quota_breaker_trips_total',
    help: 'Destinations that the breaker of this process paused, or would have paused, by the budget that they exceeded.',
    labelNames: ['budget', 'mode'],
    registers,
  })
  for (const budget of BUDGET_NAMES) for (const mode of ['observe', 'enforce']) trips.inc({ budget, mode }, 0)
  // Prometheus does not see the first increase of a series that begins with it.
  for (const code of Object.keys(ERRORS)) problems.inc({ code }, 0)
  return {
    build({ version, node, timeZones, postgres, schema: number }) {
      build.set({ version, node, time_zones: timeZones, postgres }, 1)
      schema.set(number)
    },
    watchReadiness: isReady => watchReady(() => (isReady() ? 1 : 0)),
    watchClock: aheadMs => watchAhead(() => aheadMs() / 1_000),
    watchPauses: ageMs => watchPauseAge(() => ageMs() / 1_000),
    breakerTripped: ({ budget, observed }) => trips.inc({ budget, mode: observed ? 'observe' : 'enforce' }),
    problem({ code, reason }) {
      problems.inc({ code })
      if (reason !== undefined) refused.inc({ reason })
    },
    ...keyMetrics(registers, now),
  }
}

function keyMetrics(registers: Registry[], now: () => number): Pick<ServiceMetrics, 'keysFetched'> {
  const fetchedAt = new Gauge({
    name: 'sms_quota_auth_keys_fetched_timestamp_seconds',
    help: 'When the keys that verify tokens were last fetched from the key server, in seconds since 1970; 0: never.',
    registers,
  })
  const failures = new Counter({
    name: 'sms_quota_auth_key_fetch_failures_total',
    help: 'Attempts to fetch the keys that verify tokens that have failed.',
    registers,
  })
  return {
    keysFetched(isFetched) {
      if (isFetched) fetchedAt.set(now() / 1_000)
      else failures.inc()
    },
  }
}
