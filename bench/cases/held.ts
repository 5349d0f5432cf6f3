/** The latency of other users while another session locks the rows of one user, who sends too. */
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { fillUsers } from '../fill.ts'
import { type Job, type LoadResult, MEASURED, MEASURING } from '../load-generator/job.ts'
import { type Candidate, measureRounds } from '../measure.ts'
import { startWorker } from '../servers/processes.ts'
import { newSecret, startLoadGenerator, startService, USERS } from '../servers/test-bed.ts'
import { type Bench, detailsOf, type Findings, latencyRow } from './bench.ts'

/** The user after those of the measured load. */
const HELD_USER = USERS + 1
const HELD_MS = 3_000
const WARMUP_MS = 1_000
/** Calls per second: few, so that latencies do not come from a full queue. */
const RATE = 1_000
/** More than the calls in flight while the rows are locked, so that no response waits behind another. */
const CONNECTIONS = 256
const HELD_RATE = 50
const UNDISTURBED = 'no rows locked'
const HELD = "one user's rows locked"

export async function heldCase(bench: Bench): Promise<Findings> {
  const { say, settings, postgres, cleanup } = bench
  const secret = newSecret()
  const { db, url } = await postgres.make('bench_held')
  await fillUsers(db, USERS + 1, bench.now)
  const service = await startService(bench, url, secret)
  const { candidate, token } = await startLoadGenerator(bench, secret)
  // A process of its own: the calls of the locked user must not delay other responses on their connections.
  const heldCalls = startWorker('load-generator.ts', { flags: bench.flagsFor('held-calls') })
  cleanup.add(() => heldCalls.stop())
  const timing = { warmupMs: WARMUP_MS, measureMs: HELD_MS }
  const heldJob = { urls: [service.url], token, rate: HELD_RATE, connections: 16, depth: 1, users: 1, operations: 1 }

  let runs = 0
  const side = (name: string, isHeld: boolean): Candidate => ({
    name,
    async run(round) {
      runs += 1
      const job: Job = { ...heldJob, ...timing, firstUser: HELD_USER, prefix: `h${runs}-` }
      let unlock = async () => {}
      const load = { connections: CONNECTIONS, depth: 1, users: USERS, rate: RATE, ...timing }
      const others = candidate({ ...service, name }, load, {
        async onNote(note) {
          if (note === MEASURING && isHeld) unlock = await lockUser(db, HELD_USER)
          if (note === MEASURED) await unlock()
        },
      })
      try {
        const [sample] = await Promise.all([others.run(round), heldCalls.ask<LoadResult>(job)])
        return sample
      } finally {
        await unlock()
      }
    },
  })
  say('held: warming up')
  await candidate(service, { connections: 64, depth: 1, users: USERS, warmupMs: 0, measureMs: 2_000 }).run(0)
  await postgres.checkpoint()
  say('held: measuring')
  const samples = await measureRounds([side(UNDISTURBED, false), side(HELD, true)], settings.rounds, say)
  return {
    rows: [
      latencyRow(`p99 of other users, ${HELD} for ${HELD_MS / 1000} s`, UNDISTURBED, {
        ours: samples.get(HELD)?.p99,
        theirs: samples.get(UNDISTURBED)?.p99,
        max: 1.5,
      }),
    ],
    details: detailsOf(`open loop, ${RATE.toLocaleString('en')} calls/s, 10k users`, samples),
    notes: [],
  }
}

/** Locks a user's rows in a transaction, and returns a function that ends it. */
async function lockUser(db: Database, userId: number): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: locked, resolve: onLocked, reject } = Promise.withResolvers<void>()
  const transaction = db.transaction(async tx => {
    await tx.query({ text: sql`select 1 from account where user_id = $1 for update`, values: [userId] })
    await tx.query({ text: sql`select 1 from quota where user_id = $1 for update`, values: [userId] })
    onLocked()
    await released
  })
  transaction.catch(reject)
  await locked
  return () => {
    release()
    return transaction
  }
}
