/** A mix of all calls of senders, and denials, compared with pure reserves on the same service. */
import type { Mix } from '../load-generator/job.ts'
import { measureRounds } from '../measure.ts'
import { FULL_LOAD, startTestBed, USERS } from '../servers/test-bed.ts'
import { type Bench, detailsOf, type Findings, ratioRow } from './bench.ts'

export const DENIED_USERS = 1_000
/** What senders call, in percent. */
export const MIXED_CALLS: Mix = { reserve: 60, commit: 25, release: 3, repeat: 2, check: 5, find: 1, denied: 4 }

const PURE = 'reserve only'
const MIXED = 'mixed calls'
const FEW_DENIED = 'reserve, 10 % denied'
const MANY_DENIED = 'reserve, 30 % denied'

const MIXES = {
  [PURE]: { reserve: 100 },
  [MIXED]: MIXED_CALLS,
  [FEW_DENIED]: { reserve: 90, denied: 10 },
  [MANY_DENIED]: { reserve: 70, denied: 30 },
} satisfies Record<string, Mix>

export async function mixedCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const { service, candidate } = await startTestBed(bench, 'mixed', { users: { denied: DENIED_USERS } })
  const load = { ...FULL_LOAD, users: USERS, deniedUsers: DENIED_USERS }
  say('warming up')
  const warmup = { warmupMs: 0, measureMs: settings.isQuick ? 1_500 : 5_000 }
  await candidate(service, { ...load, mix: MIXES[MIXED], ...warmup }).run(0)
  say('mixed calls and denials')
  const samples = await measureRounds(
    Object.entries(MIXES).map(([name, mix]) => candidate({ ...service, name }, { ...load, mix })),
    settings.rounds,
    say,
  )
  const versus = (name: string, min: number) =>
    ratioRow(`${name}, 10k users`, PURE, { ours: samples.get(name), theirs: samples.get(PURE), min })
  return {
    rows: [versus(MIXED, 0.95), versus(FEW_DENIED, 1), versus(MANY_DENIED, 1)],
    details: detailsOf('closed loop, 10k users', samples),
    notes: [],
  }
}
