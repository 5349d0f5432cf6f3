/**
 * Shows that the cost per command does not grow with the number of quotas (10k, 100k, 1M) or of past reservations (none,
 * millions), and that updates stay heap-only.
 */
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import type { EngineJob } from '../engine-runner.ts'
import { fillReservations, fillUsers } from '../fill.ts'
import { measure, measureRounds, type Sample } from '../measure.ts'
import { startWorker } from '../servers/processes.ts'
import { type Bench, cpuRow, type Findings, type Row } from './bench.ts'

/** Active users, spread evenly over all users: the sides differ only in the size of the tables. */
const ACTIVE = 10_000
const MAX_RATIO = 1.3

interface Side {
  name: string
  db: Database
  url: string
  users: number
}

export async function growthCase(bench: Bench): Promise<Findings> {
  const { say, settings, postgres } = bench
  const sides: Side[] = []
  async function make(users: number, past: number): Promise<void> {
    const name = `${users.toLocaleString('en')} quotas${past === 0 ? '' : `, ${past.toLocaleString('en')} past reservations`}`
    say(`growth: filling ${name}`)
    const made = await postgres.make(`bench_growth_${users}_${past}`)
    await fillUsers(made.db, users, bench.now)
    if (past > 0) await fillReservations(made.db, past, { first: 1, count: users }, bench.now)
    sides.push({ name, ...made, users })
  }
  for (const users of [ACTIVE, 100_000, 1_000_000]) await make(users, 0)
  await make(100_000, settings.pastReservations)
  await postgres.checkpoint()

  say('growth: measuring')
  const candidates = sides.map(side => ({ name: side.name, run: (round: number) => runSide(bench, side, round) }))
  const samples = await measureRounds(candidates, settings.rounds, say)
  const [small, , large, past] = sides.map(({ name }) => samples.get(name))
  const middle = samples.get(sides[1]?.name ?? '')
  return {
    rows: [
      costRow('cost per command at 1M quotas', 'the same at 10k quotas', large, small),
      costRow(`cost per command with ${settings.pastReservations / 1e6}M past reservations`, 'with none', past, middle),
      ...(await Promise.all(sides.map(heapOnlyRow))),
    ],
    details: [...samples].map(([side, sample]) => ({
      load: `engine alone, ${ACTIVE.toLocaleString('en')} active users`,
      side,
      sample,
    })),
    notes: [],
  }
}

async function runSide({ postgres, cleanup, settings, flagsFor }: Bench, side: Side, round: number): Promise<Sample> {
  const worker = startWorker('engine-runner.ts', { flags: flagsFor('engine') })
  cleanup.add(() => worker.stop())
  const job: EngineJob = {
    side: 'engine',
    url: side.url,
    users: side.users,
    stride: side.users / ACTIVE,
    connections: 8,
    width: 4_000,
    warmupMs: settings.engineWarmupMs,
    measureMs: settings.engineMs,
    prefix: `g${round}-`,
  }
  try {
    return await measure(worker, job, { postgres, processes: { service: worker } })
  } finally {
    await worker.stop()
  }
}

function costRow(what: string, peer: string, ours: Sample | undefined, theirs: Sample | undefined): Row {
  return cpuRow(what, peer, { ours: costOf(ours), theirs: costOf(theirs), max: MAX_RATIO })
}

/** CPU time of all processes per thousand commands, which does not depend on other load on the machine. */
function costOf(sample: Sample | undefined): number | null {
  if (sample === undefined) return null
  const parts = Object.values(sample.cpu).filter(value => value !== null)
  return parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0)
}

async function heapOnlyRow({ name, db }: Side): Promise<Row> {
  const [row] = await db.query<{ updates: number; hot: number }>({
    text: sql`select n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'quota'`,
  })
  const { updates = 0, hot = 0 } = row ?? {}
  const share = updates === 0 ? null : hot / updates
  return {
    what: `heap-only updates of quotas, ${name}`,
    peer: 'all updates',
    ours: hot.toLocaleString('en'),
    theirs: updates.toLocaleString('en'),
    ratio: share,
    goal: '> 0.95',
    isMet: share === null ? null : share > 0.95,
  }
}
