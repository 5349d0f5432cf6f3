/**
 * Two services on one database, compared with one: ten thousand users, and one hot user. Two services may refuse calls of
 * the hot user, whose rows both write; only the granted ones count.
 */
import { fillUsers } from '../fill.ts'
import { measureRounds } from '../measure.ts'
import { FULL_LOAD, newSecret, startLoadGenerator, startService, type Target, USERS } from '../servers/test-bed.ts'
import { type Bench, detailsOf, type Findings, ratioRow } from './bench.ts'

const ONE = 'one service'
const TWO = 'two services'
const LOADS = [
  { load: '10k users', users: USERS, min: 1 },
  { load: 'one hot user', users: 1, min: 0.7 },
]

export async function processesCase(bench: Bench): Promise<Findings> {
  const { say, settings, postgres } = bench
  const secret = newSecret()
  const { candidate } = await startLoadGenerator(bench, secret)
  // A database for each side, so that no idle service shares that of the single one.
  async function start(count: number): Promise<Target[]> {
    say(`processes: starting ${count === 1 ? ONE : TWO}`)
    const { db, url } = await postgres.make(`bench_processes_${count}`)
    await fillUsers(db, USERS, bench.now)
    const services: Target[] = []
    while (services.length < count) services.push(await startService(bench, url, secret))
    return services
  }
  const sides = [
    { name: ONE, services: await start(1) },
    { name: TWO, services: await start(2) },
  ]
  await postgres.checkpoint()
  const candidatesOf = (users: number, timing: object = {}) =>
    sides.map(({ name, services }) => {
      const processes = Object.assign(
        {},
        ...services.map(({ processes }, n) => ({ [`service${n}`]: processes.service })),
      )
      const urls = services.map(({ url }) => url)
      return candidate({ name, url: '', processes }, { ...FULL_LOAD, users, urls, ...timing }, { allowsRefusals: true })
    })
  say('warming up')
  const warmup = { warmupMs: 0, measureMs: settings.isQuick ? 1_500 : 5_000 }
  for (const { run } of candidatesOf(USERS, warmup)) await run(0)

  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const { load, users, min } of LOADS) {
    say(`processes: ${load}`)
    const samples = await measureRounds(candidatesOf(users), settings.rounds, say)
    const sides = { ours: samples.get(TWO), theirs: samples.get(ONE), min }
    findings.rows.push(ratioRow(`two services on one database, ${load}`, ONE, sides))
    const refused = [...samples].map(([name, { refusedShare }]) => `${name} ${(refusedShare * 100).toFixed(1)} %`)
    findings.notes.push(`Refused calls, ${load}: ${refused.join(', ')} (medians).`)
    findings.details.push(...detailsOf(`closed loop, ${load}`, samples))
  }
  return findings
}
