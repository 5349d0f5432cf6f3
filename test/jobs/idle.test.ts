/** What jobs cost while there is nothing to do: a few statements each, however many shards there are. */
import pino from 'pino'
import { expect, inject, test } from 'vitest'
import { createJobs } from '../../src/background.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'
import { SHARDS } from '../../src/domain/basics/shard.ts'
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { createPauses } from '../../src/engine/pauses.ts'
import { startService } from '../support/service.ts'

/** Every kind of rows has a retention time. */
const KEPT = ['', 'HISTORY_', 'DELETED_QUOTA_', 'AUDIT_', 'DENIAL_', 'EVENT_'].map(of => [`${of}RETENTION_DAYS`, '35'])
const env = Object.fromEntries(KEPT)
const { db, clock, engine, metrics, databaseUrl } = await startService({ env })
const loaded = loadConfig({ ...env, AUTH_SECRET: 'x'.repeat(32), DATABASE_URL: databaseUrl })
if ('issues' in loaded) throw new Error(JSON.stringify(loaded.issues))

let statements = 0
const counted: Database = {
  ...db,
  query(statement) {
    statements += 1
    return db.query(statement)
  },
  transaction(work, mode) {
    // It begins and ends.
    statements += 2
    return db.transaction(
      tx =>
        work({
          isCluster: tx.isCluster,
          query(statement) {
            statements += 1
            return tx.query(statement)
          },
        }),
      mode,
    )
  },
}
const now = () => clock.now
const jobs = createJobs(
  {
    config: loaded.config,
    log: pino({ level: 'silent' }),
    jobsDb: counted,
    now,
    metrics,
    pauses: createPauses({ db: counted, now }),
    secretKeys: secretKeys(null, []),
    valueKey: { bytes: null },
    idleMs: 0,
  },
  engine,
)

const FEW = SHARDS.length
/** A cluster locks the rows of one shard at a time. */
const fewOf = (name: string) => (name === 'customer figures' && inject('nodes') !== null ? 8 * FEW : FEW)

test.each(jobs.map(job => [job.name, job] as const))('%s', async (name, job) => {
  const { signal } = new AbortController()
  // The first steps read what was missed before the start, and some work is of an hour.
  for (const ms of [0, HOUR_MS]) {
    clock.now += ms
    for (let step = 0; step < 40; step++) await job.step(signal)
  }
  clock.now += MINUTE_MS
  statements = 0
  expect((await job.step(signal)).isBehind).toBe(false)
  expect(statements).toBeGreaterThan(0)
  expect(statements).toBeLessThan(fewOf(name))
})
