import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { EventCounts } from './db/outbox.ts'
import type { BatchReport } from './engine/lanes.ts'
import type { BatchModeReport } from './engine/shard.ts'
import type { Settled } from './events/settle-delivery.ts'
import type { UsageRollupOptions } from './jobs/usage-rollup.ts'

/** What operators watch, in Prometheus's text format. No label holds a user: there may be millions. */
export interface Metrics {
  /** A batch has ended, however it ended. */
  batch(report: BatchReport): void
  /** A batch was decided and is durable. */
  way(report: BatchModeReport): void
  /** A request was answered. `route` is its pattern, never its path. */
  request(route: string, method: string, status: number, seconds: number): void
  /** Asked for at each scrape: commands accepted and not answered, and their bytes. */
  watchQueue(queue: () => { commands: number; bytes: number }): void
  /** An attempt to deliver an event to a webhook has ended. */
  delivery(outcome: Settled): void
  /** So many deliveries wait, in all processes together. */
  pendingDeliveries(count: number): void
  /** Usage was folded. */
  fold: NonNullable<UsageRollupOptions['onRollup']>
  /** So much was told, by all processes together. */
  events(counts: EventCounts['counts']): void
  /** Asked for at each scrape: how many callers wait for the feed's next event. */
  watchFeed(waiting: () => number): void
  readonly contentType: string
  text(): Promise<string>
}

const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
const COMMANDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/** @param registry holds the metrics; a caller that lists them passes its own. */
export function createMetrics(registry = new Registry()): Metrics {
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const requests = new Histogram({
    name: 'sms_quota_request_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['route', 'method', 'status'],
    buckets: SECONDS,
    registers,
  })
  const batchCommands = new Histogram({
    name: 'sms_quota_batch_commands',
    help: 'Commands in a batch.',
    buckets: COMMANDS,
    registers,
  })
  const batchQueued = new Histogram({
    name: 'sms_quota_batch_queued_seconds',
    help: 'How long the oldest command of a batch waited for it to start.',
    buckets: SECONDS,
    registers,
  })
  const batchRan = new Histogram({
    name: 'sms_quota_batch_seconds',
    help: 'How long a batch took, from its start to its last answer.',
    buckets: SECONDS,
    registers,
  })
  const stages = new Histogram({
    name: 'sms_quota_batch_stage_seconds',
    help: 'What a batch spent its time on. An optimistic batch loads nothing.',
    labelNames: ['way', 'stage'],
    buckets: SECONDS,
    registers,
  })
  const retries = new Counter({
    name: 'sms_quota_batch_retries_total',
    help: 'Batches begun again: conflicts with other processes, lost connections.',
    registers,
  })
  const outcomes = new Counter({
    name: 'sms_quota_commands_total',
    help: 'Commands decided.',
    labelNames: ['op', 'outcome'],
    registers,
  })

  const deliveries = new Counter({
    name: 'sms_quota_webhook_attempts_total',
    help: 'Attempts to deliver an event, by what became of the delivery.',
    labelNames: ['outcome'],
    registers,
  })
  const pending = new Gauge({
    name: 'sms_quota_webhook_pending',
    help: 'Deliveries that wait for an attempt, of all processes; counted up to 100000.',
    registers,
  })

  const foldedBatches = new Counter({
    name: 'sms_quota_usage_folded_batches_total',
    help: 'Batches whose usage was folded by this process.',
    registers,
  })
  const foldedRows = new Counter({
    name: 'sms_quota_usage_folded_rows_total',
    help: 'Rows of usage, each of a user and a quarter of an hour, that were written by folding.',
    registers,
  })
  const pendingUsage = new Gauge({
    name: 'sms_quota_usage_pending_batches',
    help: 'Batches whose usage is to be folded yet, of all processes; counted up to 100000.',
    registers,
  })

  const events = new Counter({
    name: 'sms_quota_events_total',
    help: 'Events told since this process has started, by all processes.',
    labelNames: ['type'],
    registers,
  })

  /** A value that is asked for at each scrape. */
  const gauge = (name: string, help: string, of: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(of())
      },
    })

  return {
    batch({ size, queuedMs, ranMs }) {
      batchCommands.observe(size)
      batchQueued.observe(queuedMs / 1000)
      batchRan.observe(ranMs / 1000)
    },
    way(report) {
      if (report.retries > 0) retries.inc(report.retries)
      for (const [stage, milliseconds] of Object.entries(report.stages)) {
        stages.observe({ way: report.way, stage }, milliseconds / 1000)
      }
      for (const { op, outcome, count } of report.outcomes) outcomes.inc({ op, outcome }, count)
    },
    request: (route, method, status, seconds) => requests.observe({ route, method, status }, seconds),
    watchQueue(queue) {
      gauge('sms_quota_queue_commands', 'Commands accepted and not yet answered.', () => queue().commands)
      gauge('sms_quota_queue_bytes', 'What they weigh.', () => queue().bytes)
    },
    delivery: outcome => deliveries.inc({ outcome }),
    pendingDeliveries: count => pending.set(count),
    fold({ batches, rows, pending: waiting }) {
      foldedBatches.inc(batches)
      foldedRows.inc(rows)
      pendingUsage.set(waiting)
    },
    events(counts) {
      for (const { type, count } of counts) events.inc({ type }, count)
    },
    watchFeed(waiting) {
      gauge('sms_quota_feed_waiting', "Callers who wait for the feed's next event.", waiting)
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  }
}
