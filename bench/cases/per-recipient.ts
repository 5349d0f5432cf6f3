/**
 * Caps that count each recipient by itself: reserves of users without one, beside others who have one, and of users who have one, whose
 * messages go to ever other recipients, or to one. All name the recipient. Then what the counters of 600,000 recipients take.
 */
import { randomBytes } from 'node:crypto'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createValueCounterCleaner } from '../../src/jobs/cleaners.ts'
import { fillUsers } from '../fill.ts'
import { type Candidate, measureRounds } from '../measure.ts'
import { residentBytes } from '../servers/processes.ts'
import { FULL_LOAD, newSecret, startLoadGenerator, startService, type Target, USERS } from '../servers/test-bed.ts'
import { type Bench, cpuRow, detailsOf, type Findings, ratioRow } from './bench.ts'

const NONE = 'no such cap'
const OF_OTHERS = 'others have such a cap'
const OTHER_RECIPIENTS = 'a cap, ever other recipients'
const ONE_RECIPIENT = 'a cap, one recipient'

/** Users of the load: the others of the database are those who have caps, or none. */
const SENDERS = USERS / 2
const TURNS_OF_ROUND = 3
const MIB = 2 ** 20

export async function perRecipientCase(bench: Bench): Promise<Findings> {
  const { postgres, say, settings } = bench
  const secret = newSecret()
  const { candidate } = await startLoadGenerator(bench, secret)
  /** @param first of the users who have a cap; null: no user has one */
  async function start(name: string, first: number | null): Promise<Target & { db: Database }> {
    const { db, url } = await postgres.make(`bench_recipients_${first ?? 'none'}`)
    await fillUsers(db, USERS, bench.now, { hasCaps: true })
    // As such caps are stored; those of the others stay caps on all messages together.
    await db.query({
      text: sql`update quota set per = 'recipient', counts = 'messages', period = 'per_hour' where kind = 'cap' and user_id >= $1`,
      values: [first ?? USERS + 1],
    })
    await db.query({ text: sql`vacuum (full, analyze) quota` })
    const service = await startService(bench, url, secret, { SECRETS_KEY: randomBytes(32).toString('base64') })
    return { ...service, name, db }
  }
  const none = await start(NONE, null)
  const ofOthers = await start(OF_OTHERS, SENDERS + 1)
  const having = await start(OTHER_RECIPIENTS, 1)
  await postgres.checkpoint()
  say('caps on each recipient')
  const load = { ...FULL_LOAD, users: SENDERS, recipients: 10_000_000 }
  const candidates = [
    candidate(none, load),
    candidate(ofOthers, load),
    candidate(having, load),
    candidate({ ...having, name: ONE_RECIPIENT }, { ...load, recipients: 1 }),
  ]
  const found = await measureRounds(candidates, settings.rounds * TURNS_OF_ROUND, say)
  const rowsOf = (name: string, max: number) => [
    ratioRow(`reserve: ${name}`, NONE, {
      ours: found.get(name),
      theirs: found.get(NONE),
      min: max === 1.4 ? 0.7 : 0.95,
    }),
    cpuRow(`CPU of service and PostgreSQL per call: ${name}`, NONE, { ours: cpuOf(name), theirs: cpuOf(NONE), max }),
  ]
  function cpuOf(name: string): number | undefined {
    const cpu = found.get(name)?.cpu
    return cpu === undefined ? undefined : Object.values(cpu).reduce((sum: number, part) => sum + (part ?? 0), 0)
  }
  return {
    rows: [...rowsOf(OF_OTHERS, 1.05), ...rowsOf(OTHER_RECIPIENTS, 1.4), ...rowsOf(ONE_RECIPIENT, 1.4)],
    details: detailsOf('closed loop, 5k users', found),
    notes: [await sizeOfCounters(bench, having, candidate(having, { ...load, warmupMs: 0, measureMs: FILL_MS }))],
  }
}

/** Enough that the memory of the service has grown as far as it does under load. */
const COUNTERS = 600_000
const FILL_MS = 10_000

/** Sends to ever other recipients until there are enough counters, and removes them when their windows are over. */
async function sizeOfCounters({ say, now }: Bench, { db, processes }: Target & { db: Database }, load: Candidate) {
  const memory = async () => `${Math.round(((await residentBytes(processes.service?.pid ?? 0)) ?? 0) / MIB)} MiB`
  const read = async () => {
    const [size] = await db.query<{ rows: number; bytes: number }>({
      text: sql`select count(*) as rows, pg_total_relation_size('value_counter') as bytes from value_counter`,
    })
    return size ?? { rows: 0, bytes: 0 }
  }
  const before = await memory()
  let size = await read()
  for (let run = 0; size.rows < COUNTERS; run++) {
    say(`  ${size.rows.toLocaleString('en')} counters, service ${await memory()}`)
    await load.run(run)
    size = await read()
  }
  const after = await memory()
  const cleaner = createValueCounterCleaner({ db, now: () => now })
  const began = performance.now()
  for (let removal = await cleaner.removeOnce(now + DAY_MS); removal.isBehind; )
    removal = await cleaner.removeOnce(now + DAY_MS)
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  const left = (await read()).rows
  const note = `${size.rows.toLocaleString('en')} counters take ${(size.bytes / size.rows).toFixed(0)} bytes each, with indexes; memory of the service ${before} before, ${after} after; the cleaner left ${left} after ${seconds} s`
  say(`  ${note}`)
  return `- Caps on each recipient: ${note}.`
}
