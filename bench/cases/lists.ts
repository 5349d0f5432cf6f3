/**
 * Lists, summaries and alerts: in a database of a million quotas compared with one of ten thousand, as in `npm run plans`;
 * and the time of each of them at ten million quotas (one million with --quick).
 */
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { type Comparison, compare, quantile, type Side, timeOf } from '../compare.ts'
import { withoutIndexes } from '../fill.ts'
import { loadQuotas } from '../load.ts'
import { samplesOf } from '../statements.ts'
import type { Bench, Findings, Row } from './bench.ts'

const MAX_RATIO = 1.5
/** The longest that a list may take, in milliseconds, with data that the database's memory or the system's holds. */
const MAX_MS = 100
const CALLS = 200

export async function listsCase(bench: Bench): Promise<Findings> {
  const { settings, say } = bench
  const quotas = settings.listedQuotas
  const largest = await load(bench, quotas)
  say('lists: measuring each')
  const rows = await timesOf(largest)
  if (!settings.isQuick) {
    const [small, large] = [await load(bench, 10_000), await load(bench, 1_000_000)]
    say('lists: comparing')
    rows.push(...(await compare(small, large)).map(rowOf))
  }
  return { rows, details: [], notes: [] }
}

async function load({ postgres, say, now }: Bench, quotas: number): Promise<Side> {
  say(`lists: filling ${quotas.toLocaleString('en')} quotas`)
  const { db } = await postgres.make(`bench_lists_${quotas}`)
  const loaded = { quotas, users: quotas / 10, now }
  await withoutIndexes(db, 'quota', () => loadQuotas(db, loaded))
  await db.query({ text: sql`analyze quota` })
  return { db, loaded }
}

/** The 99th percentile of every list, alone on the server. */
async function timesOf({ db, loaded }: { db: Database; loaded: Side['loaded'] }): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name, run } of await samplesOf(db, loaded)) {
    const times: number[] = []
    for (let n = 0; n < CALLS + CALLS / 10; n++) {
      const time = await timeOf(() => run(db))
      // The first tenth only warms up.
      if (n >= CALLS / 10) times.push(time)
    }
    const p99 = quantile(times, 0.99)
    rows.push({
      what: `${name}: p99, ${loaded.quotas.toLocaleString('en')} quotas`,
      peer: 'goal',
      ours: `${p99.toFixed(1)} ms`,
      theirs: `${MAX_MS} ms`,
      ratio: p99 / MAX_MS,
      goal: '≤ 1×',
      isMet: p99 <= MAX_MS,
    })
  }
  return rows
}

function rowOf({ what, one, other }: Comparison): Row {
  const ratio = other.p99 / one.p99
  return {
    what: `${what}: p99, ${other.name}`,
    peer: one.name,
    ours: `${other.p99.toFixed(2)} ms`,
    theirs: `${one.p99.toFixed(2)} ms`,
    ratio,
    goal: `≤ ${MAX_RATIO}×`,
    isMet: ratio <= MAX_RATIO,
  }
}
