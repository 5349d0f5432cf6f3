/** The cost of recording usage: the engine with and without it on one database. Every command is a consume. */
import type { EngineJob } from '../engine-runner.ts'
import { fillUsers } from '../fill.ts'
import { measure, measureRounds } from '../measure.ts'
import { startWorker } from '../servers/processes.ts'
import { type Bench, type Findings, ratioRow } from './bench.ts'

const LOADS = [
  { load: 'consume, uniform over 100k users', stride: 1 },
  { load: 'consume, 1,000 busy users', stride: 100 },
]
const USERS = 100_000
const MAX_LOSS = 0.1

export async function usageOverheadCase(bench: Bench): Promise<Findings> {
  const { postgres, cleanup, settings, say } = bench
  const { db, url } = await postgres.make('bench_usage_overhead')
  await fillUsers(db, USERS, bench.now)
  await postgres.checkpoint()
  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const { load, stride } of LOADS) {
    say(`usage recorded or not: ${load}`)
    const samples = await measureRounds(
      (['recorded', 'not recorded'] as const).map(side => ({
        name: side,
        async run(round) {
          const worker = startWorker('engine-runner.ts', { flags: bench.flagsFor(side) })
          cleanup.add(() => worker.stop())
          const job: EngineJob = {
            side: 'engine',
            url,
            users: USERS,
            stride,
            connections: 8,
            width: 8_000,
            warmupMs: settings.engineWarmupMs,
            measureMs: settings.engineMs,
            prefix: `${side === 'recorded' ? 'k' : 'n'}${stride}-${round}-`,
            op: 'consume',
            keepsUsage: side === 'recorded',
          }
          try {
            return await measure(worker, job, { postgres, processes: { engine: worker } })
          } finally {
            await worker.stop()
          }
        },
      })),
      settings.rounds,
      say,
    )
    const sides = { ours: samples.get('recorded'), theirs: samples.get('not recorded'), min: 1 - MAX_LOSS }
    findings.rows.push(ratioRow(`usage recorded, ${load}`, 'the engine without usage', sides))
    findings.details.push(...[...samples].map(([side, sample]) => ({ load, side: `usage ${side}`, sample })))
  }
  return findings
}
