/** Few and many callers with one call in flight each, compared with the two tables that a team would write by hand. */
import { measureRounds } from '../measure.ts'
import { PEERS, SERVICE, startTestBed, USERS } from '../servers/test-bed.ts'
import { type Bench, detailsOf, type Findings, ratioRow } from './bench.ts'

const LEVELS = [
  { connections: 1, depth: 1, min: 1.3 },
  { connections: 16, depth: 1, min: 2 },
  { connections: 64, depth: 1, min: 4 },
  { connections: 64, depth: 4, min: 5 },
]

export async function callersCase(bench: Bench): Promise<Findings> {
  const { say, settings } = bench
  const { service, peers, candidate } = await startTestBed(bench, 'callers', { peers: ['bare'] })
  const targets = [service, ...peers]
  say('warming up')
  const measureMs = settings.isQuick ? 1_500 : 5_000
  for (const target of targets)
    await candidate(target, { connections: 64, depth: 4, users: USERS, warmupMs: 0, measureMs }).run(0)
  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const { connections, depth, min } of LEVELS) {
    const callers = connections * depth
    const load = `${callers} ${callers === 1 ? 'caller' : 'callers'}, 10k users`
    say(`over HTTP, ${load}`)
    const samples = await measureRounds(
      targets.map(target => candidate(target, { connections, depth, users: USERS, ...settings.lightLoad })),
      settings.rounds,
      say,
    )
    const sides = { ours: samples.get(SERVICE), theirs: samples.get(PEERS.bare), min }
    findings.rows.push(ratioRow(`reserve over HTTP, ${load}`, PEERS.bare, sides))
    findings.details.push(...detailsOf(`closed loop, ${load}`, samples))
  }
  return findings
}
