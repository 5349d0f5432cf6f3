/**
 * Prints, as Markdown, the plans of lists and summaries, and how their cost grows with the number of quotas.
 *
 *     npm run --silent plans [-- --million] >plans.md
 *
 * Without --million it stops at 100,000 quotas. It creates databases of its own on DATABASE_URL's server and drops them,
 * or starts a server for the time.
 */
import { parseArgs } from 'node:util'
import { sql } from '../src/db/connection/sql.ts'
import { CALLS, compare, quantile, type Side, timeOf } from './compare.ts'
import { withDatabases } from './databases.ts'
import { blocksOf, isSetting, plansOf, planTextsOf, transactionOf } from './explain.ts'
import { loadQuotas } from './load.ts'
import { type Facts, type Measured, renderPlans } from './plans-report.ts'
import { samplesOf } from './statements.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const RUNS = 20

const { values: options } = parseArgs({ options: { million: { type: 'boolean', default: false } } })
const sizes = [10_000, 100_000, ...(options.million ? [1_000_000] : [])]

await withDatabases(async makeDatabase => {
  const sides: Side[] = []
  for (const quotas of sizes) {
    say(`loading ${quotas} quotas`)
    const loaded = { quotas, users: quotas / 10, now: NOW }
    const db = await makeDatabase(String(quotas))
    await loadQuotas(db, loaded)
    sides.push({ db, loaded })
  }
  const [small] = sides
  const large = sides.at(-1)
  if (small === undefined || large === undefined) throw new Error('there are no sizes')

  say('measuring each statement')
  const measured = await measureSamples(sides)
  say('comparing')
  const comparisons = await compare(small, large)
  const [facts] = await large.db.query<Facts>({
    text: sql`select split_part(current_setting('server_version'), ' ', 1) as version,
             current_setting('shared_buffers') as buffers,
             pg_size_pretty(pg_relation_size('quota')) as "table", pg_size_pretty(pg_indexes_size('quota')) as indexes`,
  })
  if (facts === undefined) throw new Error('the server returned no facts')
  process.stdout.write(renderPlans({ sizes, runs: RUNS, calls: CALLS, facts, measured, comparisons }))
})

function say(what: string): void {
  process.stderr.write(`${what}\n`)
}

/** Each sample at each size, alternating, so that other load on the machine affects all sizes alike. */
async function measureSamples(sides: readonly Side[]): Promise<Measured[]> {
  const columns = await Promise.all(sides.map(async ({ db, loaded }) => ({ db, samples: await samplesOf(db, loaded) })))
  const measured: Measured[] = []
  for (const [index, { name, grows }] of (columns[0]?.samples ?? []).entries()) {
    const runs = columns.flatMap(({ db, samples }) => {
      const sample = samples[index]
      return sample === undefined ? [] : [{ db, sample, times: [] as number[] }]
    })
    for (let run = 0; run < RUNS; run++) {
      for (const { db, sample, times } of runs) times.push(await timeOf(() => sample.run(db)))
    }
    const cells = []
    for (const { db, sample, times } of runs) {
      const statements = await transactionOf(db, sample.run)
      const plans = await plansOf(db, statements)
      const milliseconds = quantile(times, 0.5)
      const blocks = plans.reduce((sum, plan) => sum + blocksOf(plan), 0)
      cells.push({ milliseconds, blocks, statements })
    }
    // The report shows the plans at 100,000 quotas, the second size.
    const shown = runs[1]
    const statements = cells[1]?.statements
    if (shown === undefined || statements === undefined) throw new Error('two sizes are needed')
    const plans = await planTextsOf(shown.db, statements)
    measured.push({
      name,
      grows,
      cells,
      steps: statements.filter(one => !isSetting(one)).map((statement, nth) => ({ statement, plan: plans[nth] ?? '' })),
    })
  }
  return measured
}
