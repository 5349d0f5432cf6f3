/**
 * What a call costs each process, with the door for senders' calls open and shut, and with a limiter on Redis, in turn: calls sent ahead and
 * not, of many users and of one, in batches, and with commits.
 */
import { fillUsers } from '../fill.ts'
import type { Job } from '../load-generator/job.ts'
import { measureRounds } from '../measure.ts'
import { FULL_LOAD, startService, startTestBed, USERS } from '../servers/test-bed.ts'
import { type Bench, cpuRow, detailsOf, type Findings } from './bench.ts'

const OPEN = 'door open'
const SHUT = 'door shut'

interface Load extends Pick<Job, 'connections' | 'depth' | 'users' | 'mix'> {
  readonly what: string
  readonly operations?: number
  /** What the service may cost with the door, as a share of its cost without. Left out: the door takes none of these calls. */
  readonly max?: number
}

const LOADS: readonly Load[] = [
  ...[USERS, 1].map(users => ({ what: `64 × 16 calls, ${usersOf(users)}`, ...FULL_LOAD, users, max: 0.8 })),
  ...[16, 48, 256].flatMap(connections =>
    [USERS, 1].map(users => ({
      ...{ what: `${connections} callers, ${usersOf(users)}`, connections, depth: 1, users, max: 0.9 },
    })),
  ),
  { what: '64 × 16 calls, reserve and commit', ...FULL_LOAD, users: USERS, mix: { reserve: 50, commit: 50 }, max: 0.8 },
  { what: '16 × 2 batches of 100', connections: 16, depth: 2, operations: 100, users: USERS },
]

function usersOf(users: number): string {
  return users === 1 ? 'one hot user' : '10k users'
}

export async function doorCase(bench: Bench): Promise<Findings> {
  const { say, settings, postgres } = bench
  const shut = { SENDER_DOOR: 'false' }
  const { service, peers, secret, candidate } = await startTestBed(bench, 'door', { peers: ['redis'], settings: shut })
  const { db, url } = await postgres.make('bench_door_open')
  await fillUsers(db, USERS, bench.now)
  const open = await startService(bench, url, secret, { SENDER_DOOR: 'true' })
  const services = [
    { ...open, name: OPEN },
    { ...service, name: SHUT },
  ]
  say('warming up')
  const warmup = { ...FULL_LOAD, users: USERS, warmupMs: 0, measureMs: 5_000 }
  for (const target of [...services, ...peers]) await candidate(target, warmup).run(0)

  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const { what, max, ...load } of LOADS) {
    say(what)
    // The limiter knows neither batches nor commits.
    const targets = load.operations === undefined && load.mix === undefined ? [...services, ...peers] : services
    const candidates = targets.map(target => candidate(target, { ...load, ...settings.lightLoad }))
    const samples = await measureRounds(candidates, settings.rounds, say)
    findings.details.push(...detailsOf(what, samples))
    if (max === undefined) continue
    const [ours, theirs] = [OPEN, SHUT].map(side => samples.get(side)?.cpu.service)
    findings.rows.push(cpuRow(`Node.js, ${what}`, SHUT, { ours, theirs, max }))
  }
  return findings
}
