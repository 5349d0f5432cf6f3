/**
 * Measures the service against what else could be used, on this machine, in one run: the table of goals.
 *
 *     npm run bench [-- --quick] [-- --case http|engine|lists|growth|records|usage|crowd|console|soak] [-- --minutes N] [-- --profile FOLDER]
 *
 * It starts a PostgreSQL of its own, a Redis if there is one, the service, its peers and the callers, and leaves nothing
 * behind. A whole run writes docs/benchmarks.md; a quick one, or one of a single case, only prints.
 */
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Bench, Findings, Settings } from './cases/bench.ts'
import { consoleCase } from './cases/console.ts'
import { crowdCase } from './cases/crowd.ts'
import { engineCase } from './cases/engine.ts'
import { growthCase } from './cases/growth.ts'
import { httpCase } from './cases/http.ts'
import { listsCase } from './cases/lists.ts'
import { recordsCase } from './cases/records.ts'
import { soakCase } from './cases/soak.ts'
import { usageCase } from './cases/usage.ts'
import { factsOf, render } from './report.ts'
import { startPostgres } from './servers/postgres.ts'
import { createCleanup } from './servers/processes.ts'

const FILE = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url))

const CASES: Record<string, (bench: Bench) => Promise<Findings>> = {
  http: httpCase,
  engine: engineCase,
  lists: listsCase,
  growth: growthCase,
  records: recordsCase,
  usage: usageCase,
  crowd: crowdCase,
  console: consoleCase,
  soak: soakCase,
}
/** What is run unless a case is named. Lists take minutes to load and compare. */
const TABLE = { quick: ['http', 'engine'], whole: ['http', 'engine', 'lists', 'growth'] }

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    case: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    profile: { type: 'string' },
  },
})

const settings: Settings = options.quick
  ? {
      rounds: 3,
      warmupMs: 500,
      measureMs: 1_500,
      calm: { warmupMs: 300, measureMs: 1_000 },
      engineWarmupMs: 2_500,
      engineMs: 4_000,
      pastReservations: 1_000_000,
      soakMinutes: Number(options.minutes),
      isQuick: true,
    }
  : {
      rounds: 5,
      warmupMs: 2_000,
      measureMs: 5_000,
      calm: { warmupMs: 1_000, measureMs: 3_000 },
      engineWarmupMs: 3_000,
      engineMs: 8_000,
      pastReservations: 10_000_000,
      soakMinutes: Number(options.minutes),
      isQuick: false,
    }

const names = options.case === undefined ? TABLE[options.quick ? 'quick' : 'whole'] : [options.case]
for (const name of names) {
  if (CASES[name] === undefined)
    throw new Error(`there is no case ${name}: it is one of ${Object.keys(CASES).join(', ')}`)
}

const cleanup = createCleanup()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => cleanup.run().finally(() => process.exit(1)))
}
try {
  const began = performance.now()
  const bench: Bench = {
    settings,
    cleanup,
    postgres: await startPostgres(cleanup),
    now: Date.now(),
    say: what => process.stderr.write(`${what}\n`),
    flagsFor: name =>
      options.profile === undefined
        ? []
        : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`, `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`],
  }
  const findings: Findings[] = []
  for (const name of names) findings.push((await CASES[name]?.(bench)) ?? { rows: [], details: [], notes: [] })
  const text = render(findings, await factsOf(bench, (performance.now() - began) / 1000))
  process.stdout.write(text)
  if (options.case === undefined && !options.quick) await writeFile(FILE, text)
} finally {
  await cleanup.run()
}
