import type { FastifyBaseLogger } from 'fastify'
import type { Config } from './config/config.ts'
import { readBreaker } from './db/breaker/settings.ts'
import type { Database } from './db/connection/database.ts'
import type { SecretKeys } from './db/webhooks/secret-keys.ts'
import type { ValueKey } from './db/webhooks/value-key.ts'
import { DAY_MS, type EpochMs } from './domain/time/time.ts'
import type { Engine } from './engine/engine.ts'
import type { Pauses } from './engine/pauses.ts'
import { createAuditRetention } from './jobs/audit-retention.ts'
import { createBreaker, createBreakerCleaner, watchedTypes } from './jobs/breaker.ts'
import { createAlertCleaner, createValueCounterCleaner } from './jobs/cleaners.ts'
import { createCustomerFigures } from './jobs/customer-figures.ts'
import { createDenialRetention } from './jobs/denial-retention.ts'
import { createEraser } from './jobs/erasure.ts'
import { createEventCounter } from './jobs/event-counter.ts'
import { createEventRetention } from './jobs/event-retention.ts'
import { createExpiryNotifier } from './jobs/expiry-notifier.ts'
import { createPauseReader } from './jobs/pause-reader.ts'
import { createRetention } from './jobs/retention.ts'
import type { Job } from './jobs/runner.ts'
import { createSweeper } from './jobs/sweeper.ts'
import { createUsageCompaction } from './jobs/usage-compaction.ts'
import { createUsageRollup } from './jobs/usage-rollup.ts'
import { createWebhookRetention } from './jobs/webhook-retention.ts'
import { createWebhookSecrets } from './jobs/webhook-secrets.ts'
import type { Metrics } from './metrics.ts'

/** The options that jobs have in common. */
export interface JobsBase {
  config: Config
  log: FastifyBaseLogger
  jobsDb: Database
  now: () => EpochMs
  metrics: Metrics
  pauses: Pauses
  secretKeys: SecretKeys
  valueKey: ValueKey
  /** The pause of jobs that find nothing to do, in milliseconds. */
  idleMs: number
}

/** All jobs except the webhook dispatcher, which routes use, too. */
export function createJobs(
  { config, log, jobsDb: db, now, metrics, pauses, secretKeys: keys, valueKey, idleMs }: JobsBase,
  engine: Engine,
): Job[] {
  const { messageTypes, intervalSeconds } = config.breaker
  const watched = async () => watchedTypes((await readBreaker(db)).settings, messageTypes)
  const rollup = createUsageRollup({ db, log, watched, onRollup: metrics.rollup })
  return [
    createPauseReader(pauses),
    createSweeper({ db, engine, now, log, idleMs }),
    createRetention({
      db,
      now,
      retentionMs: config.retentionDays * DAY_MS,
      historyRetentionMs: daysInMs(config.historyRetentionDays),
      deletedQuotaRetentionMs: daysInMs(config.deletedQuotaRetentionDays),
    }),
    createEraser({ db, engine, now, watched }),
    createAuditRetention({ db, now, retentionMs: daysInMs(config.auditRetentionDays) }),
    createDenialRetention({ db, now, retentionMs: config.denialRetentionDays * DAY_MS }),
    createEventRetention({ db, now, retentionMs: config.eventRetentionDays * DAY_MS }),
    createExpiryNotifier({ db, now }),
    createAlertCleaner({ db, now }),
    createValueCounterCleaner({ db, now }),
    rollup,
    createBreaker({
      ...{ db, log, now, pauses, rollup, messageTypes },
      intervalMs: intervalSeconds * 1_000,
      onTrip: metrics.breakerTripped,
    }),
    createBreakerCleaner({ db, now }),
    createWebhookRetention({ db, now, keepMs: config.retentionDays * DAY_MS }),
    createWebhookSecrets({ db, keys, valueKey, now }),
    createUsageCompaction({ db, log, now, timeZone: config.usageTimeZone, onCompaction: metrics.compaction }),
    createCustomerFigures({ db, now }),
    createEventCounter({ db, onEvents: metrics.events }),
  ]
}

const daysInMs = (days: number | null) => (days === null ? null : days * DAY_MS)
