/** What it costs to keep usage: the engine with and without, on one database, where every command is usage. */
import type { EngineJob } from '../engine-runner.ts'
import { fillUsers } from '../fill.ts'
import { measure, race } from '../measure.ts'
import { startWorker } from '../servers/processes.ts'
import { type Bench, type Findings, ratioRow } from './bench.ts'

const LOADS = [
  { load: 'consume, uniform over 100k users', stride: 1 },
  { load: 'consume, 1,000 busy users', stride: 100 },
]
const USERS = 100_000
const MAX_LOST = 0.1

export async function recordsCase(bench: Bench): Promise<Findings> {
  const { postgres, cleanup, settings, say } = bench
  const { db, url } = await postgres.make('bench_records')
  await fillUsers(db, USERS, bench.now)
  await postgres.checkpoint()
  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const { load, stride } of LOADS) {
    say(`usage kept or not: ${load}`)
    const samples = await race(
      (['kept', 'not kept'] as const).map(side => ({
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
            prefix: `${side === 'kept' ? 'k' : 'n'}${stride}-${round}-`,
            op: 'consume',
            keepsUsage: side === 'kept',
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
    const sides = { ours: samples.get('kept'), theirs: samples.get('not kept'), least: 1 - MAX_LOST }
    findings.rows.push(ratioRow(`usage kept, ${load}`, 'the same engine without it', sides))
    findings.details.push(...[...samples].map(([side, sample]) => ({ load, side: `usage ${side}`, sample })))
  }
  return findings
}
