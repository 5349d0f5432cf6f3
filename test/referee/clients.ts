/** The clients of a round: senders of a few users each, and an administrator who changes what those may send. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Deployment } from '../support/chaos/deployment.ts'
import { UNRECORDED } from '../support/chaos/history.ts'
import { anyQuota, type Boundary, type Chance, COUNTRIES, RECIPIENTS, TAGS, TYPES } from './users.ts'

const SENDER = '/api/sms/sender/quota'
const ADMIN = '/api/sms/admin'

/** The referee leaves a part out that has more unknown outcomes than six: its clients wait for the calm before. */
const MAX_UNKNOWN = 4
const MAX_QUOTAS = 6
/** No user sends: what is asked of it changes nothing. */
const PROBE = { user_id: 900_000, units: 1 }

/** Users whose operations are checked together. */
export interface Part {
  readonly users: readonly number[]
  /** How many operations it may still have before the calm; from then on, in it. */
  left: number
  unknown: number
  readonly messages: Message[]
  readonly quotas: { id: number; user: number; limit: number; isGrant: boolean }[]
}

interface Message {
  readonly user: number
  readonly id: string
  readonly op: 'reserve' | 'consume'
  readonly body: object
  units: number
}

export interface Stage {
  readonly deployment: Deployment
  /** The choices of a client: its own, so that a seed repeats them. */
  chanceOf(client: string): Chance
  readonly boundary: Boundary
  /** The clock of the database, nearly. */
  now(): number
  /** The service that a user's next call goes to. */
  serviceOf(user: number): number
  /** Milliseconds that a client of a part waits between two calls. */
  readonly paceMs: number
  /** Resolves when nothing goes wrong any more. */
  readonly calm: Promise<void>
  isOver(): boolean
}

export const createPart = (users: readonly number[], operations: number): Part => ({
  users,
  left: operations,
  unknown: 0,
  messages: [],
  quotas: [],
})

export const isUnanswered = (answer: Answer | undefined) =>
  answer === undefined || (answer.status >= 500 && answer.body?.code !== 'overloaded')

/** Whether a client of the part makes one more call. One that has made all of them waits for the calm, when there are further ones. */
async function mayGoOn(stage: Stage, part: Part): Promise<boolean> {
  if (part.left <= 0) await stage.calm
  return !stage.isOver() && part.left > 0
}

/** Resolves when a service decides commands. */
export async function untilServing({ deployment, isOver }: Stage, service: number): Promise<void> {
  const probe = () => deployment.call(service, 'POST', `${SENDER}/check`, PROBE, undefined, UNRECORDED)
  while (!isOver() && (await probe())?.status !== 200) await pause(50)
}

interface Request {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly key?: string
  /** Only for what must not be asked anywhere else. */
  readonly service?: number
}

/** Calls of one client. Undefined: the outcome is unknown, and the service serves again. */
function createCaller(stage: Stage, part: Part, client: string, { is }: Chance) {
  return async (user: number, { method, path, body, key, service }: Request): Promise<Answer | undefined> => {
    if (part.unknown >= MAX_UNKNOWN) await stage.calm
    const chosen = service ?? (is(0.8) ? stage.serviceOf(user) : 1 - stage.serviceOf(user))
    if (stage.deployment.port(chosen) === undefined) await untilServing(stage, chosen)
    part.left--
    const answer = await stage.deployment.call(chosen, method, path, body, key, client)
    if (!isUnanswered(answer)) return answer
    part.unknown++
    await untilServing(stage, chosen)
    return undefined
  }
}

/** Sends messages of the part's users and settles them, until the stage is over. */
export async function send(stage: Stage, part: Part, client: string): Promise<void> {
  const chance = stage.chanceOf(client)
  const { below, is, oneOf } = chance
  const call = createCaller(stage, part, client, chance)
  const post = (user: number, op: string, body: object) => call(user, { method: 'POST', path: `${SENDER}/${op}`, body })
  let made = 0

  function next(user: number): Message {
    made += 1
    const op = is(0.35) ? 'consume' : 'reserve'
    const id = `${client}.${made}`
    const units = 1 + below(is(0.1) ? 9 : 3)
    const body = {
      ...{ user_id: user, id, units },
      ...scopeOf(chance),
      ...(is(0.15) ? { allow_partial: true } : {}),
      ...(op === 'consume' && is(0.1) ? { force: true } : {}),
      ...(op === 'reserve' && is(0.5) ? { ttl_seconds: 1 + below(6) } : {}),
      ...(op === 'reserve' && is(0.3) ? { on_expiry: 'commit' } : {}),
    }
    return { user, id, op, body, units }
  }

  function remember(message: Message, answer: Answer | undefined): void {
    if (answer !== undefined && (answer.status !== 200 || answer.body.granted !== true)) return
    message.units = answer?.body.units ?? message.units
    part.messages.push(message)
    if (part.messages.length > 12) part.messages.splice(below(8), 1)
  }

  async function ask(message: Message): Promise<void> {
    let answer = await post(message.user, message.op, message.body)
    // As a sender does: with the same id, at any process.
    if (answer === undefined && is(0.8)) answer = await post(message.user, message.op, message.body)
    remember(message, answer)
  }

  async function askTogether(user: number): Promise<void> {
    const messages = Array.from({ length: 2 + below(2) }, () => next(user))
    const [first] = messages
    const operations: object[] = messages.map(({ op, body }) => ({ op, ...body }))
    if (first !== undefined && is(0.4)) operations.push({ op: 'commit', user_id: user, id: first.id })
    part.left -= operations.length - 1
    const answer = await post(user, 'batch', { operations })
    if (answer === undefined) part.unknown += operations.length - 1
    for (const [index, message] of messages.entries()) remember(message, answer?.body.results[index])
  }

  async function settle({ user, id, units }: Message): Promise<void> {
    const op = oneOf(['commit', 'commit', 'release', 'refund'])
    const total = is(0.5) ? {} : { total_units: below(units + (is(0.1) ? 3 : 1)) }
    const forced = op === 'commit' && is(0.08) ? { force: true } : {}
    await post(user, op, { user_id: user, id, ...total, ...forced })
  }

  /** Half of the time about a message that any client of the part has sent. */
  async function step(): Promise<void> {
    const known = part.messages[below(part.messages.length)]
    const user = part.users[below(part.users.length)] ?? 0
    if (known === undefined || is(0.5)) {
      if (is(0.12)) await askTogether(user)
      else if (is(0.14)) await post(user, 'check', { user_id: user, units: 1 + below(4), ...scopeOf(chance) })
      else await ask(next(user))
    } else if (is(0.2)) await post(known.user, known.op, known.body)
    else if (is(0.05)) await post(known.user, 'feedback', { user_id: known.user, id: known.id, verified: true })
    else await settle(known)
  }

  while (await mayGoOn(stage, part)) {
    await step()
    await pause(stage.paceMs * (0.5 + below(1_000) / 1_000))
  }
}

function scopeOf({ is, oneOf }: Chance): object {
  return {
    ...(is(0.5) ? { country: oneOf(COUNTRIES) } : {}),
    ...(is(0.5) ? { message_type: oneOf(TYPES) } : {}),
    ...(is(0.7) ? { recipient: oneOf(RECIPIENTS) } : {}),
    ...(is(0.4) ? { tag: oneOf(TAGS) } : {}),
  }
}

/** Creates, changes and deletes quotas of the part's users, gives plans, moves units, and reads. */
export async function administer(stage: Stage, part: Part, client: string, plans: readonly number[]): Promise<void> {
  const chance = stage.chanceOf(client)
  const { below, is } = chance
  const call = createCaller(stage, part, client, chance)
  let keys = 0

  /** Repeated until it is answered: with a key, it is done once. */
  async function change(user: number, request: Request): Promise<Answer | undefined> {
    const answer = await call(user, request)
    return answer ?? (request.key === undefined ? undefined : call(user, request))
  }

  const newKey = () => {
    keys += 1
    return `${client}-${keys}`
  }

  async function create(user: number): Promise<void> {
    const body = { user_id: user, ...anyQuota(chance, stage.boundary, stage.now()) }
    const answer = await change(user, { method: 'POST', path: `${ADMIN}/quota`, body, key: newKey() })
    if (answer?.status === 201) part.quotas.push(known(answer.body))
  }

  async function move(quota: Part['quotas'][number]): Promise<void> {
    const to = part.users[below(part.users.length)] ?? quota.user
    const body = { to_user_id: to, units: 1 + below(4) }
    const path = `${ADMIN}/quota/${quota.id}/transfer`
    await change(quota.user, { method: 'POST', path, body, key: newKey() })
  }

  async function adapt(quota: Part['quotas'][number]): Promise<void> {
    const path = `${ADMIN}/quota/${quota.id}`
    if (is(0.4)) {
      const delta = is(0.6) ? 1 + below(5) : -1 - below(3)
      const body = { delta, reason: 'for the referee', ...(is(0.5) ? { allow_below_usage: true } : {}) }
      await change(quota.user, { method: 'POST', path: `${path}/adjust`, body })
    } else if (is(0.2)) {
      part.quotas.splice(part.quotas.indexOf(quota), 1)
      await change(quota.user, { method: 'DELETE', path })
    } else {
      const limit = { limit: 2 + below(quota.limit + 6), ...(is(0.5) ? { allow_below_usage: true } : {}) }
      await change(quota.user, { method: 'PUT', path, body: is(0.2) ? { enabled: is(0.7) } : limit })
    }
  }

  async function step(): Promise<void> {
    const user = part.users[below(part.users.length)] ?? 0
    const quota = part.quotas[below(part.quotas.length)]
    const plan = plans[below(plans.length)]
    if (is(0.15)) await call(user, { method: 'GET', path: `${ADMIN}/quota/list?user_id=${user}&page_size=200` })
    else if (plan !== undefined && is(0.2))
      await change(user, { method: 'PUT', path: `${ADMIN}/users/${user}/plan`, body: { plan_id: plan } })
    else if (quota === undefined || (part.quotas.length < MAX_QUOTAS * part.users.length && is(0.2))) await create(user)
    else if (part.users.length > 1 && quota.isGrant && is(0.6)) await move(quota)
    else await adapt(quota)
  }

  while (await mayGoOn(stage, part)) {
    await step()
    await pause(stage.paceMs * 4 * (0.5 + below(1_000) / 1_000))
  }
}

export const known = (quota: Answer['body']): Part['quotas'][number] => ({
  ...{ id: quota.id, user: quota.user_id, limit: quota.limit ?? 0 },
  isGrant: quota.kind === 'grant',
})

/** Pauses destinations, of a user or of all, for some seconds or until it lifts them. */
export async function pauseDestinations(stage: Stage, users: readonly number[]): Promise<void> {
  const chance = stage.chanceOf('pauser')
  const { below, is, oneOf } = chance
  const call = createCaller(stage, createPart([], 0), 'pauser', chance)
  for (let n = 0; !stage.isOver(); n++) {
    const body = {
      user_id: is(0.3) ? null : (users[below(users.length)] ?? null),
      country: oneOf(COUNTRIES),
      ...(is(0.3) ? { message_types: [oneOf(TYPES)] } : {}),
      ...(is(0.4) ? { until: new Date(stage.now() + 2_000 + below(4_000)).toISOString() } : {}),
    }
    const made = await call(0, { method: 'POST', path: `${ADMIN}/pauses`, body, key: `pause-${n}`, service: below(2) })
    await pause(1_500 + below(2_500))
    const path = `${ADMIN}/pauses/${made?.body.id}`
    if (made?.status === 201) await call(0, { method: 'DELETE', path, service: below(2) })
    await pause(1_000 + below(2_000))
  }
}
