/**
 * Every route with any input: no failure, no change by a refused call, nothing accepted against the published schemas, no answer
 * that is not documented, nothing slow. A run is a number of calls, not a time, so that a seed makes the same calls everywhere.
 *
 *     npm run fuzz -- --minutes 30 --seed 1
 */
import { expect, test } from 'vitest'
import { databaseOfOnePostgres } from '../support/database.ts'
import { fuzz, NEVER_ACCEPTED, reportOf } from '../support/fuzz/fuzz.ts'
import { createReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

/** The same calls in each run of all long tests, among them one that each operation accepts; `npm run fuzz` takes others. */
const SEED = 6
/** Some 30 seconds on two cores: enough to see each operation accept something. */
const CALLS = 2_000

const { FUZZ_SEED, FUZZ_CALLS } = process.env
const seed = Number(FUZZ_SEED ?? SEED)
const calls = Number(FUZZ_CALLS ?? CALLS)

const hook = await createReceiver()
const service = await startService({
  database: databaseOfOnePostgres(),
  env: { AUTH_FAILURES_PER_MINUTE: '0', SENDER_OPERATIONS_PER_SECOND: '0' },
  webhooks: { allowPrivate: true, timeoutMs: 200 },
})

test(`all routes hold their promises for any input (seed ${seed})`, async () => {
  const { found, answers } = await fuzz(service, hook, { seed, calls })
  expect(found === null ? null : reportOf(seed, found)).toBeNull()
  const unseen = [...answers]
    .filter(([id, counts]) => !counts.has('2xx') && !NEVER_ACCEPTED.has(id))
    .map(([operation]) => operation)
  expect(unseen, 'what they accept was never seen').toEqual([])
}, 1_200_000)
