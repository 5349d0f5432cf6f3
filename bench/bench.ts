/**
 * Measures the service and its alternatives (peers) on this machine in one run, and compares the ratios with the goals.
 * `npm run bench -- --help` lists the options.
 *
 * A run starts its own PostgreSQL, a Redis if the PATH has one, the service, the peers and the load generator, and
 * removes everything afterwards. A full run writes docs/benchmarks.md; with --quick or --case it only prints.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Bench, Findings, Settings } from './cases/bench.ts'
import { breakerCase } from './cases/breaker.ts'
import { callersCase } from './cases/callers.ts'
import { clientsCase } from './cases/clients.ts'
import { clusterCase } from './cases/cluster.ts'
import { consoleCase } from './cases/console.ts'
import { denialOverheadCase } from './cases/denial-overhead.ts'
import { doorCase } from './cases/door.ts'
import { engineCase } from './cases/engine.ts'
import { eventsCase } from './cases/events.ts'
import { floodsCase } from './cases/floods.ts'
import { freshCase } from './cases/fresh.ts'
import { greedySenderCase } from './cases/greedy-sender.ts'
import { growthCase } from './cases/growth.ts'
import { heldCase } from './cases/held.ts'
import { httpCase } from './cases/http.ts'
import { idleCase } from './cases/idle.ts'
import { importCase } from './cases/import.ts'
import { ledgerCase } from './cases/ledger.ts'
import { listsCase } from './cases/lists.ts'
import { mixedCase } from './cases/mixed.ts'
import { overloadCase } from './cases/overload.ts'
import { perRecipientCase } from './cases/per-recipient.ts'
import { plansCase } from './cases/plans.ts'
import { processesCase } from './cases/processes.ts'
import { readersCase } from './cases/readers.ts'
import { replayCase } from './cases/replay.ts'
import { soakCase } from './cases/soak.ts'
import { tracesCase } from './cases/traces.ts'
import { usageCase } from './cases/usage.ts'
import { usageOverheadCase } from './cases/usage-overhead.ts'
import { webhooksCase } from './cases/webhooks.ts'
import { yearsCase } from './cases/years.ts'
import { factsOf, render } from './report.ts'
import { startPostgres } from './servers/postgres.ts'
import { createCleanup } from './servers/processes.ts'

const FILE = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url))
/** Where the end of the file begins that a run keeps: what cases found that run by themselves. */
const APART = '\n## Measured apart\n'

const CASES: Record<string, (bench: Bench) => Promise<Findings>> = {
  http: httpCase,
  callers: callersCase,
  clients: clientsCase,
  ledger: ledgerCase,
  engine: engineCase,
  mixed: mixedCase,
  fresh: freshCase,
  held: heldCase,
  processes: processesCase,
  lists: listsCase,
  readers: readersCase,
  growth: growthCase,
  usage: usageCase,
  'usage-overhead': usageOverheadCase,
  'denial-overhead': denialOverheadCase,
  door: doorCase,
  traces: tracesCase,
  overload: overloadCase,
  floods: floodsCase,
  'greedy-sender': greedySenderCase,
  idle: idleCase,
  console: consoleCase,
  soak: soakCase,
  webhooks: webhooksCase,
  events: eventsCase,
  years: yearsCase,
  import: importCase,
  plans: plansCase,
  'per-recipient': perRecipientCase,
  breaker: breakerCase,
  replay: replayCase,
  cluster: clusterCase,
}
/** The cases of a run without --case. `lists` takes minutes to load and compare. */
const QUICK_CASES = ['http', 'callers', 'ledger', 'engine', 'mixed']
const DEFAULT_CASES = {
  quick: QUICK_CASES,
  full: [...QUICK_CASES, 'fresh', 'held', 'processes', 'greedy-sender', 'idle', 'lists', 'growth'],
}

const HELP = `npm run bench -- [options]

  --quick            fewer and shorter rounds; the cases ${DEFAULT_CASES.quick.join(', ')} only
  --case NAME        one case only: ${Object.keys(CASES).join(', ')}
  --minutes N        length of the case soak (10)
  --users N          users of the case plans (100,000)
  --cluster-url URL  the coordinator of a Citus cluster, as a superuser, for the case cluster
  --profile FOLDER   write CPU profiles of the processes to FOLDER
  --help             print this text
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    case: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    users: { type: 'string', default: '100000' },
    profile: { type: 'string' },
    'cluster-url': { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) {
  process.stdout.write(HELP)
  process.exit()
}

const settings: Settings = options.quick
  ? {
      rounds: 3,
      warmupMs: 500,
      measureMs: 1_500,
      lightLoad: { warmupMs: 300, measureMs: 1_000 },
      engineWarmupMs: 2_500,
      engineMs: 4_000,
      pastReservations: 1_000_000,
      listedQuotas: 1_000_000,
      soakMinutes: Number(options.minutes),
      planUsers: Number(options.users),
      isQuick: true,
    }
  : {
      rounds: 5,
      warmupMs: 1_000,
      measureMs: 3_000,
      lightLoad: { warmupMs: 1_000, measureMs: 3_000 },
      engineWarmupMs: 3_000,
      engineMs: 8_000,
      pastReservations: 10_000_000,
      listedQuotas: 10_000_000,
      soakMinutes: Number(options.minutes),
      planUsers: Number(options.users),
      isQuick: false,
    }

const names = options.case === undefined ? DEFAULT_CASES[options.quick ? 'quick' : 'full'] : [options.case]
for (const name of names) {
  if (CASES[name] === undefined)
    throw new Error(`no such case: ${name}; the cases are ${Object.keys(CASES).join(', ')}`)
}

const cleanup = createCleanup()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => cleanup.run().finally(() => process.exit(1)))
}
try {
  const began = performance.now()
  const bench: Bench = {
    settings,
    clusterUrl: options['cluster-url'] ?? null,
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
  for (const name of names) {
    // Each case stops what it started: an idle service would still sweep while another case is measured.
    const ofCase = createCleanup()
    cleanup.add(() => ofCase.run())
    findings.push((await CASES[name]?.({ ...bench, cleanup: ofCase })) ?? { rows: [], details: [], notes: [] })
    await ofCase.run()
  }
  const text = render(findings, await factsOf(bench, (performance.now() - began) / 1000))
  process.stdout.write(text)
  if (options.case === undefined && !options.quick) {
    const before = await readFile(FILE, 'utf8')
    const at = before.indexOf(APART)
    await writeFile(FILE, at === -1 ? text : `${text}${before.slice(at)}`)
  }
} finally {
  await cleanup.run()
}
