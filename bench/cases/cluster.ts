/** A Citus cluster compared with one PostgreSQL, both on this machine, by the same binaries: the store's CPU, and calls over HTTP. */
import { sql } from '../../src/db/connection/sql.ts'
import type { EngineJob } from '../engine-runner.ts'
import { fillUsers } from '../fill.ts'
import { measure, measureRounds, type Sample } from '../measure.ts'
import { openCluster } from '../servers/cluster.ts'
import { startWorker } from '../servers/processes.ts'
import { FULL_LOAD, newSecret, startLoadGenerator, startService } from '../servers/test-bed.ts'
import { type Bench, cpuRow, detailsOf, type Findings, ratioRow } from './bench.ts'

const USERS = 100_000
/** Two for each of two workers. */
const SHARDS = 4
const ONE = 'one PostgreSQL'
const CLUSTER = 'cluster'
const LEVELS = [
  { batchSize: 64, max: 1.5 },
  { batchSize: 256, max: 1.3 },
]
/** Batches' worth of commands in flight: enough that those of every lane are full. */
const BATCHES = 4 * SHARDS

export async function clusterCase(bench: Bench): Promise<Findings> {
  const { cleanup, settings, say } = bench
  if (bench.clusterUrl === null)
    throw new Error('the case cluster needs --cluster-url, the coordinator of a Citus cluster')
  const cluster = await openCluster(bench.clusterUrl, cleanup)
  say(`the cluster: filling ${USERS.toLocaleString('en')} quotas`)
  const sides = [
    { name: ONE, ...(await cluster.make('bench_one')) },
    { name: CLUSTER, ...(await cluster.makeDistributed('bench_cluster', SHARDS)) },
  ]
  for (const { db } of sides) {
    await fillUsers(db, USERS, bench.now, { isFresh: true })
    await db.query({ text: sql`vacuum (analyze) account, quota` })
  }
  await cluster.checkpoint()

  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const { batchSize, max } of LEVELS) {
    const load = `consume, batches of ${batchSize}`
    say(`the cluster: ${load}`)
    const samples = await measureRounds(
      sides.map(({ name, url }) => ({
        name,
        async run(round) {
          const worker = startWorker('engine-runner.ts', { flags: bench.flagsFor(name) })
          cleanup.add(() => worker.stop())
          const job: EngineJob = {
            side: 'engine',
            url,
            users: USERS,
            stride: 1,
            connections: 8,
            batchSize,
            width: batchSize * BATCHES,
            warmupMs: settings.engineWarmupMs,
            measureMs: settings.engineMs,
            prefix: `b${batchSize}-${round}-`,
            op: 'consume',
          }
          try {
            return await measure(worker, job, { postgres: cluster, processes: { engine: worker } })
          } finally {
            await worker.stop()
          }
        },
      })),
      settings.rounds,
      say,
    )
    const cpuOf = (name: string) => samples.get(name)?.cpu.postgres
    findings.rows.push(cpuRow(`the store, ${load}`, ONE, { ours: cpuOf(CLUSTER), theirs: cpuOf(ONE), max }))
    findings.details.push(...detailsOf(`engine alone, ${load}, ${USERS} users`, samples))
  }

  say('the cluster: over HTTP')
  const overHttp = await measureHttp(bench, sides, cluster)
  findings.rows.push(
    ratioRow('reserve over HTTP, on the same cores', ONE, {
      ours: overHttp.get(CLUSTER),
      theirs: overHttp.get(ONE),
      min: 0.6,
    }),
  )
  findings.details.push(...detailsOf('closed loop over HTTP', overHttp))
  findings.notes.push(`PostgreSQL ${cluster.version}, ${cluster.workers} workers, ${SHARDS} shards.`)
  return findings
}

async function measureHttp(
  bench: Bench,
  sides: readonly { name: string; url: string }[],
  postgres: Bench['postgres'],
): Promise<Map<string, Sample>> {
  const secret = newSecret()
  const { candidate } = await startLoadGenerator({ ...bench, postgres }, secret)
  const targets = []
  for (const { name, url } of sides) targets.push({ ...(await startService(bench, url, secret)), name })
  const load = { ...FULL_LOAD, users: USERS }
  for (const target of targets) await candidate(target, { ...load, warmupMs: 5_000 }).run(0)
  return measureRounds(
    targets.map(target => candidate(target, load)),
    bench.settings.rounds,
    bench.say,
  )
}
