import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { EventCounts } from './db/outbox/outbox.ts'
import { DAY_MS } from './domain/time/time.ts'
import type { BatchReport } from './engine/batch.ts'
import type { QueueReport } from './engine/scheduler.ts'
import type { Settled } from './events/settle-delivery.ts'
import type { UsageCompactionOptions } from './jobs/usage-compaction.ts'
import type { UsageRollupOptions } from './jobs/usage-rollup.ts'
import type { PendingReport } from './jobs/webhook-dispatcher.ts'
import { gaugeAtScrape } from './metrics/gauge-at-scrape.ts'
import { type JobMetrics, jobMetrics } from './metrics/jobs.ts'
import { type PoolMetrics, poolMetrics } from './metrics/pools.ts'
import { type ServiceMetrics, serviceMetrics } from './metrics/service.ts'

/** The figures that operators watch, in Prometheus's text format. No label contains a user: there may be millions. */
export interface Metrics extends ServiceMetrics, PoolMetrics, JobMetrics {
  /** A batch has ended, successfully or not. */
  queued(report: QueueReport): void
  /** A batch was decided and is durable. */
  batch(report: BatchReport): void
  /** A request was answered. `route` is its pattern, never its path; null: it has none, and its method may be any. */
  request(route: string | null, method: string, status: number, seconds: number): void
  /** Read at each scrape: commands accepted and not yet answered, and their bytes. */
  watchQueue(queue: () => { commands: number; bytes: number }): void
  /** An attempt to deliver an event to a webhook has ended. */
  delivery(outcome: Settled): void
  /** The deliveries that wait, over all processes. */
  pendingDeliveries(report: PendingReport): void
  /** The usage rollup has done a step. */
  rollup: NonNullable<UsageRollupOptions['onRollup']>
  /** The usage compaction has done a step. */
  compaction: NonNullable<UsageCompactionOptions['onCompaction']>
  /** Events that all processes have emitted since the last call. */
  events(counts: EventCounts): void
  /** Read at each scrape: how many requests wait for the feed's next event. */
  watchFeed(waiting: () => number): void
  /** Read at each scrape: when the certificate of the service's HTTPS expires, in milliseconds since 1970. */
  watchCertificate(expiresAt: () => number): void
  /** Read at each scrape: the free part of the disk of the data folder. */
  watchDisk(freeRatio: () => number): void
  readonly contentType: string
  text(): Promise<string>
}

const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
/** Fewer: each is a series for each route. The alert rules compare with one of them. */
const REQUEST_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]
const COMMANDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/**
 * @param registry holds the metrics; a caller that lists them passes its own
 * @param now milliseconds since 1970 on the clock that Prometheus compares with: this machine's
 */
export function createMetrics(registry = new Registry(), now: () => number = Date.now): Metrics {
  const registers = [registry]
  // Its summary turns once in a fifth of this time, in a loop: by default, a clock that jumps by decades holds the process for seconds.
  // Its timers of 10 ms and 100 ms would be most of what an idle process costs.
  collectDefaultMetrics({
    register: registry,
    eventLoopUtilizationMaxAgeSeconds: 1_000_000_000,
    eventLoopUtilizationTimeout: 1_000,
    eventLoopMonitoringPrecision: DAY_MS,
  })
  // Over that time it says nothing; the histogram beside it does.
  registry.removeSingleMetric('nodejs_eventloop_utilization_summary')
  replaceLag(registry)
  return {
    ...serviceMetrics(registers, now),
    ...poolMetrics(registers),
    ...jobMetrics(registers, now),
    ...requestMetrics(registers),
    ...queuedMetrics(registers),
    ...batchMetrics(registers),
    ...queueMetrics(registers),
    ...deliveryMetrics(registers),
    ...rollupMetrics(registers),
    ...eventMetrics(registers),
    watchCertificate: expiresAt =>
      gaugeAtScrape(
        registers,
        'sms_quota_certificate_expiry_timestamp_seconds',
        'When the certificate of TLS_CERT_FILE expires, in seconds since 1970; absent without TLS.',
      )(() => expiresAt() / 1_000),
    watchDisk: freeRatio =>
      gaugeAtScrape(
        registers,
        'sms_quota_disk_free_ratio',
        'Which part of the disk of DATA_DIR is free for the service, from 0 to 1; absent with DATABASE_URL.',
      )(freeRatio),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  }
}

/** How often the event loop is asked how late it is. */
const LAG_INTERVAL_MS = 100
const LAGS: Readonly<Record<string, (lags: RecordableHistogram) => number>> = {
  max: ({ max }) => max,
  mean: ({ mean }) => mean,
  p50: lags => lags.percentile(50),
  p90: lags => lags.percentile(90),
  p99: lags => lags.percentile(99),
}

/** The lag of the event loop since the last scrape, by one timer in place of the library's. */
function replaceLag(registry: Registry): void {
  const lags = createHistogram()
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    lags.record(Math.max(1, Math.round((now - last - LAG_INTERVAL_MS) * 1e6)))
    last = now
  }, LAG_INTERVAL_MS).unref()
  for (const kind of ['min', 'stddev']) registry.removeSingleMetric(`nodejs_eventloop_lag_${kind}_seconds`)
  const gauges = Object.entries(LAGS).map(([kind, read], index) => {
    const name = `nodejs_eventloop_lag_${kind}_seconds`
    registry.removeSingleMetric(name)
    const help = `How long the event loop kept a timer waiting, since the last scrape: ${kind}.`
    // The first one sets all.
    const collect = () => (index === 0 ? setAll() : undefined)
    return { read, gauge: new Gauge({ name, help, registers: [registry], collect }) }
  })
  const setAll = () => {
    for (const { read, gauge } of gauges) gauge.set(lags.count === 0 ? 0 : read(lags) / 1e9)
    lags.reset()
  }
}

function requestMetrics(registers: Registry[]): Pick<Metrics, 'request'> {
  const requests = new Histogram({
    name: 'sms_quota_request_seconds',
    help: 'Time from the receipt of a request to its response. The status is a class: 2xx, 3xx, 4xx or 5xx; HEAD counts as GET.',
    labelNames: ['route', 'method', 'status'],
    buckets: REQUEST_SECONDS,
    registers,
  })
  return {
    request: (route, called, code, seconds) => {
      const method = route === null ? 'any' : called === 'HEAD' ? 'GET' : called
      requests.observe({ route: route ?? 'none', method, status: `${Math.floor(code / 100)}xx` }, seconds)
    },
  }
}

function queuedMetrics(registers: Registry[]): Pick<Metrics, 'queued'> {
  const batchCommands = new Histogram({
    name: 'sms_quota_batch_commands',
    help: 'Commands in a batch.',
    buckets: COMMANDS,
    registers,
  })
  const batchQueued = new Histogram({
    name: 'sms_quota_batch_queued_seconds',
    help: 'Time that the oldest command of a batch waited before the batch started.',
    buckets: SECONDS,
    registers,
  })
  const batchRan = new Histogram({
    name: 'sms_quota_batch_seconds',
    help: 'Time from the start of a batch to its last answer.',
    buckets: SECONDS,
    registers,
  })
  return {
    queued({ size, queuedMs, ranMs }) {
      batchCommands.observe(size)
      batchQueued.observe(queuedMs / 1000)
      batchRan.observe(ranMs / 1000)
    },
  }
}

function batchMetrics(registers: Registry[]): Pick<Metrics, 'batch'> {
  const stages = new Histogram({
    name: 'sms_quota_batch_stage_seconds',
    help: 'Time that a batch spent in each stage. An optimistic batch loads only what is not in memory.',
    labelNames: ['mode', 'stage'],
    buckets: SECONDS,
    registers,
  })
  const retries = new Counter({
    name: 'sms_quota_batch_retries_total',
    help: 'Batches started again after conflicts with other processes, lost connections or locks.',
    registers,
  })
  const outcomes = new Counter({
    name: 'sms_quota_commands_total',
    help: 'Commands decided, by operation and outcome; denials also by their reason, in observe mode what would be denied.',
    labelNames: ['op', 'outcome', 'reason'],
    registers,
  })
  return {
    batch(report) {
      if (report.retries > 0) retries.inc(report.retries)
      for (const [stage, milliseconds] of Object.entries(report.stages)) {
        stages.observe({ mode: report.mode, stage }, milliseconds / 1000)
      }
      for (const { op, outcome, reason, count } of report.outcomes)
        outcomes.inc(reason === null ? { op, outcome } : { op, outcome, reason }, count)
    },
  }
}

function queueMetrics(registers: Registry[]): Pick<Metrics, 'watchQueue'> {
  const gauge = (name: string, help: string) => gaugeAtScrape(registers, name, help)
  const watchCommands = gauge('sms_quota_queue_commands', 'Commands accepted and not yet answered.')
  const watchBytes = gauge('sms_quota_queue_bytes', 'Bytes of the commands accepted and not yet answered.')
  return {
    watchQueue(queue) {
      watchCommands(() => queue().commands)
      watchBytes(() => queue().bytes)
    },
  }
}

function deliveryMetrics(registers: Registry[]): Pick<Metrics, 'delivery' | 'pendingDeliveries'> {
  const deliveries = new Counter({
    name: 'sms_quota_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  const pending = new Gauge({
    name: 'sms_quota_webhook_pending',
    help: 'Webhook deliveries that wait for an attempt, over all processes, counted up to 100000.',
    registers,
  })
  const oldest = new Gauge({
    name: 'sms_quota_webhook_oldest_pending_seconds',
    help: 'How long the oldest webhook delivery has waited to be delivered, over all processes; 0 if none waits.',
    registers,
  })
  const behind = new Gauge({
    name: 'sms_quota_webhook_behind_events',
    help: 'Events that the webhook furthest behind in the outbox has no deliveries for yet.',
    registers,
  })
  return {
    delivery: outcome => deliveries.inc({ outcome }),
    pendingDeliveries({ count, oldestMs, behindEvents }) {
      pending.set(count)
      oldest.set(oldestMs / 1_000)
      behind.set(behindEvents)
    },
  }
}

function rollupMetrics(registers: Registry[]): Pick<Metrics, 'rollup' | 'compaction'> {
  const rollupBatches = new Counter({
    name: 'sms_quota_usage_rollup_batches_total',
    help: 'Batches whose usage this process has rolled up.',
    registers,
  })
  const rollupRows = new Counter({
    name: 'sms_quota_usage_rollup_rows_total',
    help: 'Usage rows that the rollup of this process has written, each for a user and a quarter of an hour.',
    registers,
  })
  const pendingUsage = new Gauge({
    name: 'sms_quota_usage_pending_batches',
    help: 'Batches whose usage is not rolled up yet, over all processes, counted up to 100000.',
    registers,
  })
  const compactedRows = new Counter({
    name: 'sms_quota_usage_compacted_rows_total',
    help: 'Rows of old usage that this process has compacted into days or months.',
    registers,
  })
  return {
    compaction: ({ rows }) => compactedRows.inc(rows),
    rollup({ batches, rows, pending }) {
      rollupBatches.inc(batches)
      rollupRows.inc(rows)
      pendingUsage.set(pending)
    },
  }
}

function eventMetrics(registers: Registry[]): Pick<Metrics, 'events' | 'watchFeed'> {
  const events = new Counter({
    name: 'sms_quota_events_total',
    help: 'Events that all processes have emitted since this process started, by type.',
    labelNames: ['type'],
    registers,
  })
  return {
    events(counts) {
      for (const { type, count } of counts) events.inc({ type }, count)
    },
    watchFeed: gaugeAtScrape(registers, 'sms_quota_feed_waiting', "Requests that wait for the feed's next event."),
  }
}
