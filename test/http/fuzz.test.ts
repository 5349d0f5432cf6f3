/**
 * Every route with any input: no failure, no change by a refused call, nothing accepted against the published schemas, no answer
 * that is not documented, nothing slow. A run is a number of calls, not a time, so that a seed makes the same calls everywhere.
 */
import { expect, test } from 'vitest'
import { databaseOfOnePostgres } from '../support/database.ts'
import { fuzz, reportOf } from '../support/fuzz/fuzz.ts'
import { createReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

/** Other calls than those of `fuzz.long.test.ts`, which makes enough of them to see each operation accept something. */
const seed = 2
const calls = 100

const hook = await createReceiver()
const service = await startService({
  database: databaseOfOnePostgres(),
  env: { AUTH_FAILURES_PER_MINUTE: '0', SENDER_OPERATIONS_PER_SECOND: '0' },
  webhooks: { allowPrivate: true, timeoutMs: 200 },
})

test(`all routes hold their promises for any input (seed ${seed})`, async () => {
  const { found } = await fuzz(service, hook, { seed, calls })
  expect(found === null ? null : reportOf(seed, found)).toBeNull()
}, 1_200_000)
