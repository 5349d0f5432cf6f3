/**
 * Two services on one database, compared with one: ten thousand users, and one hot user. Two services may refuse calls of
 * the hot user, whose rows both write; only the granted ones count. With affinity, each call goes to the service that its user belongs to.
 */
import { createProcesses } from '../../client/src/processes.ts'
import { fillUsers } from '../fill.ts'
import { measureRounds } from '../measure.ts'
import { FULL_LOAD, newSecret, startLoadGenerator, startService, type Target, USERS } from '../servers/test-bed.ts'
import { type Bench, detailsOf, type Findings, ratioRow } from './bench.ts'

const ONE = 'one service'
const TWO = 'two services'
const AFFINITY = 'two services with affinity'
const LOADS = [
  { load: '10k users', users: USERS, min: { [TWO]: 1, [AFFINITY]: 1 } },
  { load: 'one hot user', users: 1, min: { [TWO]: 0.7, [AFFINITY]: 0.9 } },
]

export async function processesCase(bench: Bench): Promise<Findings> {
  const { say, settings, postgres } = bench
  const secret = newSecret()
  const { candidate } = await startLoadGenerator(bench, secret)
  // A database for each side: no idle service shares that of the single one, and services remember conflicts of an earlier load.
  async function start(name: string, count: number): Promise<{ name: string; services: Target[] }> {
    say(`processes: starting ${name}`)
    const { db, url } = await postgres.make(`bench_processes_${name.replaceAll(' ', '_')}`)
    await fillUsers(db, USERS, bench.now)
    const services: Target[] = []
    while (services.length < count) services.push(await startService(bench, url, secret))
    return { name, services }
  }
  const sides = [await start(ONE, 1), await start(TWO, 2), await start(AFFINITY, 2)]
  await postgres.checkpoint()
  const candidatesOf = (users: number, timing: object = {}) =>
    sides.map(({ name, services }) => {
      const processes = Object.assign(
        {},
        ...services.map(({ processes }, n) => ({ [`service${n}`]: processes.service })),
      )
      const all = services.map(({ url }) => url)
      const hasAffinity = name === AFFINITY
      // The hot user belongs to one of them, and the other one has nothing to do.
      const urls = hasAffinity && users === 1 ? [createProcesses(all, () => 0).of(1).base] : all
      const load = { ...FULL_LOAD, users, urls, hasAffinity, ...timing }
      return candidate({ name, url: '', processes }, load, { allowsRefusals: true })
    })
  say('warming up')
  const warmup = { warmupMs: 0, measureMs: settings.isQuick ? 1_500 : 5_000 }
  for (const { run } of candidatesOf(USERS, warmup)) await run(0)

  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const { load, users, min } of LOADS) {
    say(`processes: ${load}`)
    const samples = await measureRounds(candidatesOf(users), settings.rounds, say)
    for (const [name, least] of Object.entries(min)) {
      const sides = { ours: samples.get(name), theirs: samples.get(ONE), min: least }
      const how = name === AFFINITY ? 'with affinity, ' : ''
      findings.rows.push(ratioRow(`two services on one database, ${how}${load}`, ONE, sides))
    }
    const refused = [...samples].map(([name, { refusedShare }]) => `${name} ${(refusedShare * 100).toFixed(1)} %`)
    findings.notes.push(`Refused calls, ${load}: ${refused.join(', ')} (medians).`)
    findings.details.push(...detailsOf(`closed loop, ${load}`, samples))
  }
  return findings
}
