/** The engine without HTTP over a million quotas, compared with two plain statements that write the same rows. */
import type { EngineJob } from '../engine-runner.ts'
import { fillUsers } from '../fill.ts'
import { measure, measureRounds } from '../measure.ts'
import { startWorker } from '../servers/processes.ts'
import { type Bench, type Findings, ratioRow } from './bench.ts'

const CONNECTIONS = 8
/** Rows per batch of the plain statements. */
const BATCH_ROWS = 1_000
/** Commands in flight: enough for the engine to form batches of the same size. */
const IN_FLIGHT = 30_000

export async function engineCase(bench: Bench): Promise<Findings> {
  const { postgres, cleanup, settings, say } = bench
  const users = 1_000_000
  say(`the engine alone: filling ${users.toLocaleString('en')} quotas`)
  // One database for both sides, so that both find the same pages cached.
  const { db, url } = await postgres.make('bench_engine')
  await fillUsers(db, users, bench.now)
  await postgres.checkpoint()
  say('the engine alone: measuring')
  const samples = await measureRounds(
    (['engine', 'bulk'] as const).map(side => ({
      name: side,
      async run(round) {
        const worker = startWorker('engine-runner.ts', { flags: bench.flagsFor(side) })
        cleanup.add(() => worker.stop())
        const job: EngineJob = {
          side,
          url,
          users,
          stride: 1,
          connections: CONNECTIONS,
          width: side === 'engine' ? IN_FLIGHT : BATCH_ROWS,
          warmupMs: settings.engineWarmupMs,
          measureMs: settings.engineMs,
          prefix: `${side}${round}-`,
        }
        try {
          return await measure(worker, job, { postgres, processes: { [side]: worker } })
        } finally {
          await worker.stop()
        }
      },
    })),
    settings.rounds,
    say,
  )
  return {
    rows: [
      ratioRow('engine alone, uniform over 1M quotas', 'two plain bulk statements and a commit', {
        ours: samples.get('engine'),
        theirs: samples.get('bulk'),
        min: 0.8,
      }),
    ],
    details: [...samples].map(([side, sample]) => ({ load: 'engine alone, 1M quotas', side, sample })),
    notes: [],
  }
}
