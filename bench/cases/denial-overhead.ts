/**
 * The cost of logging denials: two engines on one database, one that logs and one that does not, take turns with 30 % of
 * all commands denied. What is looked for is a few percent. Therefore many short turns are compared in pairs.
 */
import { sql } from '../../src/db/connection/sql.ts'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { fillUsers } from '../fill.ts'
import { median } from '../measure.ts'
import type { Postgres } from '../servers/postgres.ts'
import { type Bench, cpuRow, type Findings } from './bench.ts'

/** Denials of many users are bounded by the process's rate, those of few users by each user's. */
const DENIED_USERS = [10_000, 10]
const USERS = 20_000
const DENIED_SHARE = 0.3
const IN_FLIGHT = 1_000
const COMMANDS_PER_TURN = 8_000
const MAX_COST = 1.05

/** Seconds of CPU per thousand commands. */
interface Costs {
  engine: number
  postgres: number
}

export async function denialOverheadCase({ postgres, cleanup, settings, say, now }: Bench): Promise<Findings> {
  const { db, url } = await postgres.make('bench_denial_overhead')
  await fillUsers(db, USERS, now, { denied: Math.max(...DENIED_USERS) })
  await postgres.checkpoint()
  const open = (logsDenials: boolean) => {
    const log = { info: () => {}, warn: console.warn, error: console.error }
    const engine = createEngine({ url, now: Date.now, log, logsDenials })
    cleanup.add(() => engine.close())
    return { engine, costs: [] as Costs[] }
  }
  const findings: Findings = { rows: [], details: [], notes: [] }
  for (const deniedUsers of DENIED_USERS) {
    say(`denials logged or not: ${deniedUsers.toLocaleString('en')} users are denied`)
    const [logged, notLogged] = [open(true), open(false)]
    const turns = settings.isQuick ? 12 : 40
    for (let turn = -2; turn < turns; turn++) {
      for (const { engine, costs } of turn % 2 === 0 ? [logged, notLogged] : [notLogged, logged]) {
        const cost = await takeTurn(engine, postgres, deniedUsers)
        // The first turns warm the engines up, and use up the burst of the log.
        if (turn >= 0) costs.push(cost)
      }
    }
    for (const process of ['engine', 'postgres'] as const) {
      const costOf = ({ costs }: typeof logged) => median(costs.map(cost => cost[process]))
      const what = `denials logged, 30 % denied, of ${deniedUsers.toLocaleString('en')} users: ${process}`
      const costs = { ours: costOf(logged), theirs: costOf(notLogged), max: MAX_COST }
      findings.rows.push(cpuRow(what, 'the engine that logs none', costs))
    }
  }
  const [log] = await db.query<{ rows: number; bytes: number }>({
    text: sql`select count(*) as rows, pg_total_relation_size('denial') as bytes from denial`,
  })
  if (log !== undefined) {
    findings.notes.push(`- A logged denial takes ${Math.round(log.bytes / log.rows)} bytes with its indexes.`)
  }
  return findings
}

let made = 0

/** Sends a turn's commands in a closed loop: the engine takes what its share of this process is, PostgreSQL all of its own. */
async function takeTurn(engine: Engine, postgres: Postgres, deniedUsers: number): Promise<Costs> {
  let left = COMMANDS_PER_TURN
  const below = (count: number) => Math.floor(Math.random() * count)
  async function sender(): Promise<void> {
    while (left > 0) {
      left -= 1
      made += 1
      const isDenied = Math.random() < DENIED_SHARE
      const outcome = await engine.submit({
        op: 'reserve',
        user_id: isDenied ? USERS + 1 + below(deniedUsers) : 1 + below(USERS),
        id: `m${made}`,
        units: 1,
        country: null,
        message_type: null,
        ttl_ms: 300_000,
        on_expiry: 'release',
        allow_partial: false,
        force: false,
        explain: false,
      })
      if (outcome.outcome !== (isDenied ? 'denied' : 'granted')) throw new Error(`a command was ${outcome.outcome}`)
    }
  }
  const [began, postgresBegan] = [process.cpuUsage(), await postgres.cpu()]
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender))
  const [{ user, system }, postgresEnded] = [process.cpuUsage(began), await postgres.cpu()]
  return {
    engine: (user + system) / 1_000 / COMMANDS_PER_TURN,
    postgres: (((postgresEnded ?? 0) - (postgresBegan ?? 0)) * 1_000) / COMMANDS_PER_TURN,
  }
}
