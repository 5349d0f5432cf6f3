/**
 * Statistics that are missing or wrong: PostgreSQL's CPU per call right after an import, before any ANALYZE, and denials
 * where ANALYZE ran while there were no reservations. Autovacuum is off, so that the statistics stay as they are.
 */
import { sql } from '../../src/db/connection/sql.ts'
import { disableAutovacuum, fillUsers } from '../fill.ts'
import { measureRounds } from '../measure.ts'
import { FULL_LOAD, newSecret, startLoadGenerator, startService, type Target, USERS } from '../servers/test-bed.ts'
import { type Bench, cpuRow, detailsOf, type Findings, ratioRow } from './bench.ts'

const DENIED_USERS = 1_000
const FRESH = 'no ANALYZE since the import'
const ANALYZED = 'analyzed'
const NONE_DENIED = 'none denied'
const SOME_DENIED = '10 % denied'
const LOAD = { ...FULL_LOAD, users: USERS, deniedUsers: DENIED_USERS }

export async function freshCase(bench: Bench): Promise<Findings> {
  const { say, settings, postgres } = bench
  const secret = newSecret()
  const { candidate } = await startLoadGenerator(bench, secret)
  async function start(name: string) {
    say(`fresh: importing ${USERS.toLocaleString('en')} users`)
    const { db, url } = await postgres.make(`bench_fresh_${name}`)
    await disableAutovacuum(db)
    await fillUsers(db, USERS, bench.now, { denied: DENIED_USERS, isFresh: true })
    const analyze = () => db.query({ text: sql`analyze` })
    return { analyze, service: () => startService(bench, url, secret) }
  }
  const warmUp = (target: Target) =>
    candidate(target, { ...LOAD, warmupMs: 0, measureMs: settings.isQuick ? 1_500 : 5_000 }).run(0)

  const [fresh, analyzed] = [await start('imported'), await start('analyzed')]
  const targets = [
    { ...(await fresh.service()), name: FRESH },
    { ...(await analyzed.service()), name: ANALYZED },
  ]
  await postgres.checkpoint()
  for (const target of targets) await warmUp(target)
  await analyzed.analyze()
  say('fresh: measuring without statistics')
  const imported = await measureRounds(
    targets.map(target => candidate(target, LOAD)),
    settings.rounds,
    say,
  )

  const empty = await start('empty')
  await empty.analyze()
  const service = await empty.service()
  await warmUp(service)
  say('fresh: measuring denials with statistics of no reservations')
  const denials = await measureRounds(
    [
      candidate({ ...service, name: NONE_DENIED }, LOAD),
      candidate({ ...service, name: SOME_DENIED }, { ...LOAD, mix: { reserve: 90, denied: 10 } }),
    ],
    settings.rounds,
    say,
  )
  return {
    rows: [
      cpuRow("PostgreSQL's CPU per call, no ANALYZE since the import", 'the same, analyzed', {
        ours: imported.get(FRESH)?.cpu.postgres,
        theirs: imported.get(ANALYZED)?.cpu.postgres,
        max: 1.1,
      }),
      ratioRow('10 % denied, ANALYZE without reservations', 'none denied', {
        ours: denials.get(SOME_DENIED),
        theirs: denials.get(NONE_DENIED),
        min: 1,
      }),
    ],
    details: [
      ...detailsOf('closed loop, 10k users, after an import', imported),
      ...detailsOf('closed loop, 10k users, ANALYZE without reservations', denials),
    ],
    notes: [],
  }
}
