/**
 * One round of the referee: two services over one database, some users whose windows end during the round, their clients, and one kind
 * of fault. Afterwards, in the calm, every call must succeed. The history of all calls is a file that `referee` checks.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { createDeployment, type Deployment } from '../support/chaos/deployment.ts'
import { createHistory, type History, UNRECORDED } from '../support/chaos/history.ts'
import { ownServer } from '../support/database.ts'
import { startFailover } from '../support/failover.ts'
import { seededRandom } from '../support/ledger.ts'
import {
  administer,
  createPart,
  isUnanswered,
  known,
  type Part,
  pauseDestinations,
  type Stage,
  send,
  untilServing,
} from './clients.ts'
import { installClock, readEpoch, stepClock } from './database-clock.ts'
import { NEMESES, type NemesisName, type Scene, TIMEOUT_MS } from './nemeses.ts'
import { BOUNDARIES, createChance, firstQuotas } from './users.ts'

const ADMIN = '/api/sms/admin'
/** Two pairs between which units move, and four by themselves. */
const PARTS: readonly (readonly number[])[] = [[1, 2], [3, 4], [5], [6], [7], [8]]
/** Never seen before: the first message of each gives the default plan. */
const STRANGERS = [101, 102, 103, 104]
const SENDERS_OF_PAIR = 3
const SENDERS = 3
/** Beside those before it, fewer than the four hundred that the referee looks at. */
const OPERATIONS_IN_CALM = 60
/** Before the boundary, users are set up. That takes much longer on a busy machine. */
const LEAD_MS = 600_000
/** How long services doubt a clock that stepped. */
const CLOCK_MS = 3_000
/** Beyond this, the machine has too much other work for the calm to be one. */
const LONGEST_STOP_MS = 250
/** How long what a killed process began may go on at the server. */
const GRACE_MS = 2_500
/** The services promise to be within half a second of the database's clock. */
const UNCERTAINTY_MS = 600

export interface RoundOptions {
  readonly seed: number
  readonly nemesis: NemesisName
  /** The file of the history. */
  readonly file: string
  readonly isShort: boolean
}

export async function playRound({ seed, nemesis, file, isShort }: RoundOptions): Promise<{ operations: number }> {
  const random = seededRandom(seed)
  const chance = createChance(random)
  const boundary = chance.oneOf(BOUNDARIES)
  const [beforeMs, calmMs, quota] = isShort ? [3_000, 4_000, 180] : [5_000, 10_000, 300]
  const failover = nemesis === 'fail_over' ? await startFailover() : undefined
  const deployment = await createDeployment(1, {
    ...(nemesis === 'full_disk' ? { server: await ownServer('/tmp') } : {}),
    ...(failover === undefined ? {} : { server: { ...failover, url: failover.adminUrl, serviceUrl: failover.url } }),
    ...(nemesis === 'lose_answers' ? { timeoutMs: TIMEOUT_MS } : {}),
    prepare: db => installClock(db, boundary.at - Date.now() - LEAD_MS),
  })
  const epochAtZero = await readEpoch(deployment.db)
  const epochMs = Math.floor(epochAtZero + performance.now())
  const startedAt = epochMs - epochAtZero
  const history = createHistory(deployment, { seed, epochMs, startedAt, uncertaintyMs: UNCERTAINTY_MS })
  try {
    const parts = PARTS.map(users => createPart(users, quota))
    const plans = await setUp(deployment, chance, boundary, parts)
    const steppedMs = await stepBefore(deployment, boundary.at - beforeMs - CLOCK_MS)
    history.begin(steppedMs)
    const boundaryAt = boundary.at - epochAtZero - steppedMs
    await pause(Math.max(0, boundaryAt - beforeMs - performance.now()))
    await playStage({
      history,
      deployment,
      seed,
      random,
      boundary,
      boundaryAt,
      isShort,
      calmMs,
      nemesis,
      failover,
      parts,
      plans,
      quota,
    })
    return { operations: history.operations.length }
  } finally {
    history.write(file, await history.apart(() => readAll(deployment)))
    expect(deployment.serviceErrors, deployment.output()).toEqual([])
  }
}

/** Steps the clock to a time, and waits until both services trust it again. @returns by how many milliseconds it stepped */
async function stepBefore({ db, call }: Deployment, time: number): Promise<number> {
  const ms = Math.round(time - (await readEpoch(db)) - performance.now())
  await stepClock(db, ms)
  const path = `${ADMIN}/quota/summary?user_id=1`
  for (const service of [0, 1]) {
    for (;;) {
      const answer = await call(service, 'GET', path, undefined, undefined, UNRECORDED)
      if (answer?.status === 200 && Date.parse(answer.body.as_of) >= time) break
      await pause(50)
    }
  }
  return ms
}

interface Play {
  history: History
  deployment: Deployment
  seed: number
  random: () => number
  boundary: Stage['boundary']
  boundaryAt: number
  isShort: boolean
  calmMs: number
  nemesis: NemesisName
  failover: Scene['failover']
  parts: readonly Part[]
  plans: readonly number[]
  quota: number
}

async function playStage(play: Play): Promise<void> {
  const { history, deployment, random, boundary, boundaryAt, isShort, calmMs, parts, plans } = play
  const calm = Promise.withResolvers<void>()
  let isOver = false
  let moved = 0
  const stage: Stage = {
    deployment,
    chanceOf: client => createChance(seededRandom(play.seed + hashOf(client))),
    boundary,
    now: () => boundary.at + performance.now() - boundaryAt,
    serviceOf: user => (user + moved) % 2,
    // Of the two hundred milliseconds or so of a call, most are a pause.
    paceMs: isShort ? 180 : 250,
    calm: calm.promise,
    isOver: () => isOver,
  }
  const strangers = STRANGERS.map(user => createPart([user], 24))
  const clients = [
    ...parts.flatMap(part => clientsOf(stage, part, plans)),
    ...strangers.flatMap((part, n) => {
      const late = async (client: string) => {
        await pause(Math.max(0, boundaryAt - 500 + n * 400 - performance.now()))
        await send(stage, part, client)
      }
      return [late(`stranger-${n}.1`), late(`stranger-${n}.2`)]
    }),
    pauseDestinations(stage, [1, 3, 5, 6, 7, 8]),
  ]
  const ended = Promise.all(clients)
  ended.catch(() => {})
  const move = () => {
    moved += 1
  }
  const scene: Scene = { stage, history, random, boundaryAt, isShort, failover: play.failover, move }
  await NEMESES[play.nemesis](scene)
  await pause(Math.max(0, boundaryAt + 1_500 - performance.now()))
  for (const service of [0, 1]) await untilServing(stage, service)
  await pause(GRACE_MS)
  const calmFrom = history.now()
  for (const part of [...parts, ...strangers]) part.left = OPERATIONS_IN_CALM
  calm.resolve()
  const stoodStillMs = await longestStop(calmMs)
  isOver = true
  await ended
  const failed = history.operations.filter(({ invoked, outcome, code }) => {
    return invoked >= calmFrom && (outcome === 'unknown' || code === 'overloaded' || code === 'rate_limited')
  })
  // A service that gets no processor for a second gives up on locks. That says nothing of what it does in the calm.
  if (failed.length > 0 && stoodStillMs > LONGEST_STOP_MS) {
    console.log(`${failed.length} calls failed in the calm, in which the machine stood still for ${stoodStillMs} ms`)
    return
  }
  expect(failed, `calls that failed in the calm; the services: ${deployment.output()}`).toEqual([])
  expect(new Set(history.operations.map(({ outcome }) => outcome))).toContain('ok')
}

/** Waits. @returns how long the machine let this process wait for its turn, at most */
async function longestStop(ms: number): Promise<number> {
  let longest = 0
  const end = performance.now() + ms
  for (let at = performance.now(); at < end; ) {
    await pause(20)
    longest = Math.max(longest, performance.now() - at - 20)
    at = performance.now()
  }
  return Math.round(longest)
}

function clientsOf(stage: Stage, part: Part, plans: readonly number[]): Promise<void>[] {
  const name = part.users.join('-')
  const senders = part.users.length > 1 ? SENDERS_OF_PAIR : SENDERS
  return [
    ...Array.from({ length: senders }, (_, n) => send(stage, part, `sender-${name}.${n}`)),
    administer(stage, part, `administrator-${name}`, plans),
  ]
}

const hashOf = (text: string) => [...text].reduce((sum, char) => Math.imul(sum, 31) + char.charCodeAt(0), 7)

/** Creates plans, of which one becomes the default, and each user's first quotas. @returns the plans that may be given */
async function setUp(
  { call }: Deployment,
  chance: ReturnType<typeof createChance>,
  boundary: Stage['boundary'],
  parts: readonly Part[],
): Promise<number[]> {
  let keys = 0
  async function done(method: string, path: string, body: object) {
    keys += 1
    const answer = await call(keys % 2, method, ADMIN + path, body, `set-up-${keys}`, 'set-up')
    if (isUnanswered(answer) || (answer?.status ?? 0) >= 300) {
      throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(answer)}`)
    }
    return answer?.body
  }
  const slots = (limit: number) => [
    { slot: 'pack', limit },
    { slot: 'hourly', limit: 6, period: 'hour', priority: 50 },
    { slot: 'ceiling', kind: 'cap', limit: limit - 4, period: 'day', time_zone: boundary.zone },
  ]
  const basic = await done('POST', '/plans', { name: 'Basic', slots: slots(14) })
  await done('PUT', `/plans/${basic.id}`, { is_default: true })
  const gold = await done('POST', '/plans', { name: 'Gold', slots: slots(24) })
  for (const part of parts) {
    for (const user of part.users) {
      for (const quota of firstQuotas(chance, boundary)) {
        part.quotas.push(known(await done('POST', '/quota', { user_id: user, ...quota })))
      }
    }
  }
  return [basic.id, gold.id]
}

/** What all users have at the end. */
async function readAll({ call }: Deployment): Promise<void> {
  for (const user of [...PARTS.flat(), ...STRANGERS]) {
    for (const list of ['list', 'reservations']) {
      await call(0, 'GET', `${ADMIN}/quota/${list}?user_id=${user}&page_size=200`, undefined, undefined, 'reader')
    }
  }
}
