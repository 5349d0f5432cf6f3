/**
 * Plans and transfers: a plan is rolled out to many users beside senders, and again with the service killed in the middle. Users that the
 * service has never seen reserve and get the default plan, and known users reserve with and without one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { quantile, timeOf } from '../compare.ts'
import { fillUsers, fillUsersLike } from '../fill.ts'
import type { Job, LoadResult } from '../load-generator/job.ts'
import { measureRounds, median, type Sample } from '../measure.ts'
import { megabytes, peakBytes } from '../servers/processes.ts'
import {
  FULL_LOAD,
  mintFor,
  newSecret,
  startLoadGenerator,
  startService,
  startTestBed,
  type Target,
  USERS,
} from '../servers/test-bed.ts'
import { type Bench, cpuRow, detailsOf, type Findings, ratioRow } from './bench.ts'

/** The senders' load, in calls per second. */
const SENDERS = { connections: 64, depth: 1, operations: 1, rate: 1_000, users: USERS }
/** Unknown users, at most: beyond that the figures stay as they are. */
const MAX_STRANGERS = 100_000
/** Beyond the users of the test bed. */
const FIRST_USER = 1_000_000
const TRANSFERS = 500
const TURNS_OF_ROUND = 3

/** The quotas of a version of the plan. */
const slotsOf = (limit: number) => [
  { slot: 'monthly', limit, period: 'month' },
  { slot: 'daily', kind: 'cap', limit: 1_000, period: 'day' },
]
const LIMIT = 1_000_000_000
/** The highest there is, so that the bound is not what is measured. */
const STRANGERS = { DEFAULT_PLAN_USERS_PER_MINUTE: '1000000' }

export async function plansCase(bench: Bench): Promise<Findings> {
  const rollOut = await rollOutCase(bench)
  const newcomers = await newcomersCase(bench)
  return {
    rows: [...rollOut.rows, ...newcomers.rows],
    details: newcomers.details,
    notes: [...rollOut.notes, ...newcomers.notes],
  }
}

/* ── Calls of an administrator ──────────────────────────────────────────────────────────────────────────────────── */

interface Admin {
  /** The answer as text; a roll-out's ends early if the service is killed. */
  call(method: string, path: string, body: object, key?: string): Promise<string>
  createPlan(isDefault?: boolean): Promise<number>
  rollOut(plan: number, select: object, key: string): Promise<string>
}

async function adminOf({ url }: Target, secret: string): Promise<Admin> {
  const authorization = `Bearer ${await mintFor('admin', secret)}`
  const call: Admin['call'] = async (method, path, body, key) => {
    const headers = { authorization, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) }
    const response = await fetch(`${url}/api/sms/admin/${path}`, { method, headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text
  }
  return {
    call,
    async createPlan(isDefault = false) {
      const made = await call('POST', 'plans', { name: 'Bench', slots: slotsOf(LIMIT), is_default: isDefault })
      return JSON.parse(made).id
    },
    async rollOut(plan, select, key) {
      const lines = (await call('POST', `plans/${plan}/roll-out`, select, key)).trim().split('\n')
      const last = lines.at(-1) ?? ''
      if (JSON.parse(last).record !== 'end') throw new Error(`the roll-out ended with ${last}`)
      return last
    },
  }
}

/* ── Roll-out ───────────────────────────────────────────────────────────────────────────────────────────────────── */

async function rollOutCase(bench: Bench): Promise<Pick<Findings, 'rows' | 'notes'>> {
  const { say, settings } = bench
  const users = settings.planUsers
  const count = users.toLocaleString('en')
  const { service, databaseUrl, db, loadGenerator, secret, token } = await startTestBed(bench, 'plans')
  const admin = await adminOf(service, secret)
  const plan = await admin.createPlan()
  say(`giving a plan to ${count} users`)
  await admin.rollOut(plan, { users: [FIRST_USER] }, 'give')
  await fillUsersLike(db, FIRST_USER, { first: FIRST_USER + 1, count: users - 1 })

  let jobs = 0
  const send = () => {
    jobs += 1
    const { warmupMs, measureMs } = settings.lightLoad
    const job: Job = { urls: [service.url], token, ...SENDERS, warmupMs, measureMs, prefix: `p${jobs}-` }
    return loadGenerator.ask<LoadResult>(job)
  }
  const alone: LoadResult[] = []
  const sendAlone = async () => {
    say('senders alone')
    for (let round = 0; round < settings.rounds; round++) alone.push(await send())
  }
  await sendAlone()
  const pid = service.processes.service?.pid ?? 0
  const before = await peakBytes(pid)
  say(`rolling out to ${count} users beside ${SENDERS.rate} reserves/s`)
  await admin.call('PUT', `plans/${plan}`, { slots: slotsOf(LIMIT + 1) })
  let isRunning = true
  let ended = ''
  const rolling = timeOf(async () => {
    ended = await admin.rollOut(plan, {}, 'second')
  }).finally(() => {
    isRunning = false
  })
  const beside: LoadResult[] = []
  while (isRunning) beside.push(await send())
  const seconds = (await rolling) / 1_000
  const after = await peakBytes(pid)
  const during = median(beside.map(({ p99 }) => p99)).toFixed(1)
  // A run of a million users takes an hour, and may be cut off.
  say(`rolled out in ${seconds.toFixed(1)} s, p99 of the senders ${during} ms, at most ${megabytes(after)}`)
  // Before and after, because the machine may be busy with other work for a part of the time.
  await sendAlone()
  const transfers = await measureTransfers(bench, admin, db)
  const killed = await killRollOut(bench, { admin, plan, service, databaseUrl, db, secret })

  const p99 = (results: readonly LoadResult[]) => median(results.map(result => result.p99))
  const refused = beside.reduce((sum, result) => sum + result.refused, 0)
  return {
    rows: [
      {
        what: `roll-out of a plan to ${count} users beside ${SENDERS.rate} reserves/s`,
        peer: 'none',
        ours: `${seconds.toFixed(1)} s, ${Math.round(users / seconds).toLocaleString('en')} users/s`,
        theirs: '–',
        ratio: null,
        goal: 'none',
        isMet: null,
      },
      {
        what: "senders' p99 during the roll-out",
        peer: 'the same senders alone',
        ours: `${p99(beside).toFixed(1)} ms, at worst ${Math.max(...beside.map(result => result.p99)).toFixed(1)}`,
        theirs: `${p99(alone).toFixed(1)} ms`,
        ratio: p99(beside) / p99(alone),
        goal: 'none',
        isMet: null,
      },
      killed,
    ],
    notes: [
      `The roll-out answered: ${ended}. ${refused} of the senders' calls were refused meanwhile.`,
      `Peak memory of the service: ${megabytes(before)} before, ${megabytes(after)} with the roll-out.`,
      transfers,
    ],
  }
}

interface Rolled {
  admin: Admin
  plan: number
  service: Target
  databaseUrl: string
  db: Database
  secret: string
}

/** Kills the service when half of the users have the third version, and repeats the call on another one. */
async function killRollOut(bench: Bench, rolled: Rolled): Promise<Findings['rows'][number]> {
  const { admin, plan, service, databaseUrl, db, secret } = rolled
  const users = bench.settings.planUsers
  bench.say('the same, killed in the middle')
  await admin.call('PUT', `plans/${plan}`, { slots: slotsOf(LIMIT + 2) })
  let isRunning = true
  const broken = admin.rollOut(plan, {}, 'third').then(
    () => 'ended',
    () => 'broken off',
  )
  broken.finally(() => {
    isRunning = false
  })
  // To count takes a second of a million users.
  while (isRunning && (await usersOfVersion(db, 3)) < users / 2) await pause(users / 1_000)
  process.kill(service.processes.service?.pid ?? 0, 'SIGKILL')
  const outcome = await broken
  const whenKilled = await usersOfVersion(db, 3)
  const other = await adminOf(await startService(bench, databaseUrl, secret), secret)
  await other.rollOut(plan, {}, 'third')
  const [having, changed] = [await usersOfVersion(db, 3), await changesTo(db, LIMIT + 2)]
  // The users of the test bed are in no total: a difference or two of each shard, which must not end the proofs.
  const { differences: all } = await verify(db, { maxDifferences: 1_000 })
  const differences = all.filter(({ proof }) => proof !== 'totals')
  return {
    what: `kill -9 of the service at ${whenKilled.toLocaleString('en')} users (the call was ${outcome}), then the same call`,
    peer: 'each user once',
    ours: `${having.toLocaleString('en')} users, ${changed.toLocaleString('en')} changes, ${differences.length} differences by verify`,
    theirs: users.toLocaleString('en'),
    ratio: null,
    goal: 'equal',
    isMet: having === users && changed === users && differences.length === 0,
  }
}

async function usersOfVersion(db: Database, version: number): Promise<number> {
  return countOf(db, sql`select count(*) as count from account where plan_version = $1`, version)
}

async function changesTo(db: Database, limit: number): Promise<number> {
  return countOf(db, sql`select count(*) as count from quota_change where (after ->> 'limit')::bigint = $1`, limit)
}

async function countOf(db: Database, text: ReturnType<typeof sql>, value: number): Promise<number> {
  const [row] = await db.query<{ count: number }>({ text, values: [value] })
  return row?.count ?? 0
}

/* ── Transfers ──────────────────────────────────────────────────────────────────────────────────────────────────── */

/** One after the other, each between two users of the test bed. */
async function measureTransfers({ say }: Bench, admin: Admin, db: Database): Promise<string> {
  say(`${TRANSFERS} transfers`)
  const grants = await db.query<{ id: number }>({
    text: sql`select id from quota where user_id <= $1 order by user_id limit $2`,
    values: [USERS, TRANSFERS],
  })
  const times: number[] = []
  for (const [index, { id }] of grants.entries()) {
    const body = { to_user_id: USERS - index, units: 10 }
    times.push(await timeOf(() => admin.call('POST', `quota/${id}/transfer`, body, `transfer-${id}`)))
  }
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)]
  return `${times.length} transfers, one at a time: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms.`
}

/* ── Newcomers ──────────────────────────────────────────────────────────────────────────────────────────────────── */

const WITH_PLAN = 'with a default plan'
const WITHOUT_PLAN = 'without a default plan'
const NEW = 'unknown users'
/** Users of a job, of which its calls take each at most once, but for chance. */
const STRANGERS_OF_JOB = 2 ** 31

async function newcomersCase(bench: Bench): Promise<Findings> {
  const { postgres, say, settings } = bench
  const secret = newSecret()
  const { candidate } = await startLoadGenerator(bench, secret)
  async function start(name: string, hasPlan: boolean): Promise<Target & { db: Database }> {
    const { db, url } = await postgres.make(`bench_plans_${name}`)
    await fillUsers(db, USERS, bench.now)
    const service = await startService(bench, url, secret, STRANGERS)
    if (hasPlan) await (await adminOf(service, secret)).createPlan(true)
    return { ...service, name: hasPlan ? WITH_PLAN : WITHOUT_PLAN, db }
  }
  const [without, having] = [await start('without', false), await start('default', true)]
  await postgres.checkpoint()
  say('known users, with and without a default plan')
  const load = { ...FULL_LOAD, users: USERS }
  // A service that has just started is slower.
  for (const target of [without, having]) await candidate(target, { ...load, warmupMs: 0, measureMs: 5_000 }).run(0)
  const candidates = [without, having].map(target => candidate(target, load))
  // What is looked for is a few percent, so that more turns are compared.
  const known = await measureRounds(candidates, settings.rounds * TURNS_OF_ROUND, say)

  const asked = Math.min(settings.planUsers, MAX_STRANGERS)
  say(`${asked.toLocaleString('en')} unknown users`)
  const samples: Sample[] = []
  let made = 0
  for (let job = 0; made < asked; job++) {
    const firstUser = 2 ** 40 + job * STRANGERS_OF_JOB
    const strangers = { ...FULL_LOAD, users: STRANGERS_OF_JOB, firstUser }
    samples.push(await candidate({ ...having, name: NEW }, strangers).run(job))
    made = await countOf(having.db, sql`select count(*) as count from account where plan_version = $1`, 1)
    say(`  ${made.toLocaleString('en')} users have the plan`)
  }
  const unknown = samples[Math.floor(samples.length / 2)]
  return {
    rows: [
      ratioRow('reserve of known users, with a default plan', 'without one', {
        ours: known.get(WITH_PLAN),
        theirs: known.get(WITHOUT_PLAN),
        min: 0.95,
      }),
      cpuRow("the service's CPU per call, with a default plan", 'without one', {
        ours: known.get(WITH_PLAN)?.cpu.service,
        theirs: known.get(WITHOUT_PLAN)?.cpu.service,
        max: 1.05,
      }),
    ],
    details: [
      ...detailsOf('closed loop, 10k known users', known),
      ...(unknown === undefined ? [] : detailsOf('closed loop, the first reserve of each', new Map([[NEW, unknown]]))),
    ],
    notes: [
      `${made.toLocaleString('en')} unknown users got the plan; the figures are those of the middle of their rounds.`,
    ],
  }
}
