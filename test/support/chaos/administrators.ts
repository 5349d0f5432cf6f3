/** Administrators who create, change and delete quotas, transfer units and give plans during the chaos test. */
import { setTimeout as pause } from 'node:timers/promises'
import { HOUR_MS } from '../../../src/domain/time/time.ts'
import { createCaller, NO_USER } from './caller.ts'
import type { Answer, Deployment } from './deployment.ts'
import { FORCING_USERS, HONEST_USER, HOT_USER, PUMPED_USER, USERS } from './messages.ts'
import type { RunRecord } from './record.ts'

const QUOTA = '/api/sms/admin/quota'
const MAX_QUOTAS_PER_USER = 8
/** How much more the hot user may send than others: less than it tries to. */
const HOT_SCALE = 8

/** Why units may not move: others were faster. */
const REFUSED = new Set(['not_found', 'not_enough_units', 'not_transferable', 'too_many_quotas'])

export interface Administrators {
  /** Creates each user's first quotas: some are exhausted in every window, some never expire. */
  createInitialQuotas(): Promise<void>
  start(): { stop(): Promise<void> }
}

/** A quota that an administrator created, and may change or delete. */
interface ManagedQuota {
  id: number
  user: number
  limit: number
  /** Whether its limit may be lowered below its use. It then proves nothing about overselling. */
  mayBeLowered: boolean
}

export function createAdministrators(deployment: Deployment, record: RunRecord, random: () => number): Administrators {
  const quotas: ManagedQuota[] = []
  let keys = 0
  let isStopped = false
  const below = (bound: number) => Math.floor(random() * bound)
  const oneOf = <T>(list: readonly T[]) => list[below(list.length)]

  const call = createCaller(deployment, record, random)

  /** Undefined if the call had to be repeated until after the quota's expiry. */
  async function create(
    body: Record<string, unknown> & { user_id: number },
  ): Promise<{ id: number; limit: number } | undefined> {
    keys += 1
    const key = `chaos-${keys}`
    const { status, body: answer } = await call(body.user_id, { method: 'POST', path: QUOTA, body, key })
    record.count('changes of quotas')
    if (status === 201) return answer
    if (status !== 400 || !answer.detail.includes('expires_at')) {
      record.contradictions.push(`creating ${JSON.stringify(body)}: ${status} ${JSON.stringify(answer)}`)
    }
    return undefined
  }

  async function createValueCap(user_id: number, cap: NonNullable<ReturnType<RunRecord['valueCaps']['get']>>) {
    const made = await create({ user_id, kind: 'cap', period: 'hour', ...cap })
    if (made !== undefined) record.valueCaps.set(made.id, cap)
  }

  async function add(user: number): Promise<void> {
    const kind = random() < 0.4 ? 'cap' : 'grant'
    const limit = kind === 'cap' ? 10 + below(100) : 1 + below(20)
    const scope = {
      ...(random() < 0.5 ? { period: oneOf(['hour', 'day']) } : {}),
      ...(random() < 0.2 ? { message_types: ['otp'] } : {}),
      ...(random() < 0.2 ? { countries: ['DE'] } : {}),
      // Some expire within seconds of real time.
      ...(random() < 0.3
        ? { expires_at: new Date(deployment.now() + 600_000 + below(4 * HOUR_MS)).toISOString() }
        : {}),
    }
    const quota = await create({
      user_id: user,
      kind,
      limit: user === HOT_USER ? limit * HOT_SCALE : limit,
      priority: below(200),
      ...scope,
    })
    if (quota === undefined) return
    const isForAll = !('message_types' in scope || 'countries' in scope || 'expires_at' in scope)
    if (kind === 'cap' && isForAll) {
      record.caps.push({ id: quota.id, user, madeAt: performance.now(), endedAt: Number.POSITIVE_INFINITY })
    }
    quotas.push({ id: quota.id, user, limit: quota.limit, mayBeLowered: random() < 0.3 })
  }

  /** Records that a cap may be missing from grants from now on. */
  function markEnded({ id }: ManagedQuota): void {
    const cap = record.caps.find(cap => cap.id === id)
    if (cap !== undefined) cap.endedAt = Math.min(cap.endedAt, performance.now())
  }

  async function change(quota: ManagedQuota): Promise<void> {
    const lowers = quota.mayBeLowered && random() < 0.5
    if (lowers) record.lowered.add(quota.id)
    const limit = lowers ? below(quota.limit + 1) : quota.limit + below(50)
    const body =
      random() < 0.2 ? { enabled: random() < 0.7 } : { limit, ...(lowers ? { allow_below_usage: true } : {}) }
    if ('enabled' in body) markEnded(quota)
    const answer = await call(quota.user, { method: 'PUT', path: `${QUOTA}/${quota.id}`, body })
    if (answer.status === 200) quota.limit = answer.body.limit
    else if (answer.status !== 404 && answer.body.code !== 'below_usage')
      record.contradictions.push(`changing ${quota.id}: ${JSON.stringify(answer)}`)
    record.count('changes of quotas')
  }

  async function remove(quota: ManagedQuota): Promise<void> {
    quotas.splice(quotas.indexOf(quota), 1)
    markEnded(quota)
    // 404: an earlier call without an answer deleted it.
    const { status } = await call(quota.user, { method: 'DELETE', path: `${QUOTA}/${quota.id}` })
    if (status !== 204 && status !== 404) record.contradictions.push(`deleting ${quota.id}: ${status}`)
    record.count('changes of quotas')
  }

  /** Moves units to another user, and half of the time some of them back. Both calls are repeated until they are answered. */
  async function transfer({ id, user }: ManagedQuota): Promise<void> {
    keys += 1
    const [key, to] = [`chaos-transfer-${keys}`, below(USERS)]
    const both = { user: to, from: performance.now(), to: Number.POSITIVE_INFINITY }
    record.changes.push(both)
    const body = { to_user_id: to, units: 1 + below(3) }
    const made = await call(user, { method: 'POST', path: `${QUOTA}/${id}/transfer`, body, key })
    if (made.status === 201) {
      const { transfer } = made.body
      record.transfers.set(transfer.id, transfer)
      record.count('transfers')
      if (random() < 0.5) {
        const path = `/api/sms/admin/transfers/${transfer.id}/return`
        const back = await call(user, { method: 'POST', path, body: {}, key: `${key}-back` })
        if (back.status === 200) record.transfers.set(transfer.id, back.body.transfer)
        else if (!REFUSED.has(back.body.code))
          record.contradictions.push(`returning ${transfer.id}: ${JSON.stringify(back)}`)
      }
    } else if (!REFUSED.has(made.body.code)) {
      record.contradictions.push(`transferring from ${id}: ${JSON.stringify(made)}`)
    }
    both.to = performance.now()
  }

  /** Gives users a plan whose limits only grow, one by one and in roll-outs, and takes it away. */
  async function planner(): Promise<void> {
    const path = '/api/sms/admin/plans'
    let limit = 5
    const slots = () => [
      { slot: 'daily', limit, period: 'day' },
      { slot: 'hourly', kind: 'cap', limit: 100 + limit, period: 'hour' },
    ]
    const begin = { name: 'Chaos', slots: slots() }
    const { body: plan } = await call(NO_USER, { method: 'POST', path, body: begin, key: 'chaos-plan' })
    const expectAnswer = (what: string, { status, body }: Answer, isExpected: boolean) => {
      if (!isExpected) record.contradictions.push(`${what}: ${status} ${JSON.stringify(body)}`)
    }
    while (!isStopped) {
      const user = below(USERS)
      const chance = random()
      if (chance < 0.2) {
        limit += 1
        const body = { slots: slots() }
        const changed = await call(NO_USER, { method: 'PUT', path: `${path}/${plan.id}`, body })
        expectAnswer('changing the plan', changed, changed.status === 200)
      } else if (chance < 0.5) await rollOut(`${path}/${plan.id}/roll-out`, expectAnswer)
      else {
        const isGiven = chance < 0.8
        const body = isGiven ? { body: { plan_id: plan.id } } : {}
        const own = `/api/sms/admin/users/${user}/plan`
        const answer = await call(user, { method: isGiven ? 'PUT' : 'DELETE', path: own, ...body })
        expectAnswer(isGiven ? 'giving a plan' : 'taking a plan', answer, answer.status === (isGiven ? 200 : 204))
        record.count('plans of users')
      }
      await pause(below(200))
    }
  }

  /** A call that breaks off is repeated with its key until it has tried all users. */
  async function rollOut(path: string, expectAnswer: (what: string, answer: Answer, is: boolean) => void) {
    keys += 1
    const key = `chaos-roll-out-${keys}`
    const users = [...new Set(Array.from({ length: 10 }, () => below(USERS)))]
    const changes = users.map(user => ({ user, from: performance.now(), to: Number.POSITIVE_INFINITY }))
    record.changes.push(...changes)
    for (;;) {
      const answer = await call(NO_USER, { method: 'POST', path, body: { users }, key })
      expectAnswer('rolling a plan out', answer, answer.status === 200)
      if (answer.status !== 200) break
      if (answer.body.record !== 'end') continue
      expectAnswer('rolling a plan out', answer, answer.body.users.failed === 0)
      record.count('roll-outs')
      break
    }
    for (const change of changes) change.to = performance.now()
  }

  async function administrator(): Promise<void> {
    while (!isStopped) {
      const user = random() < 0.3 ? HOT_USER : below(USERS)
      const own = quotas.filter(quota => quota.user === user)
      const chosen = oneOf(own)
      if (chosen === undefined || (own.length < MAX_QUOTAS_PER_USER && random() < 0.4)) await add(user)
      else if (random() < 0.3) await transfer(chosen)
      else if (random() < 0.7) await change(chosen)
      else await remove(chosen)
      await pause(below(80))
    }
  }

  return {
    async createInitialQuotas() {
      for (const user_id of [PUMPED_USER, HONEST_USER]) await create({ user_id, limit: 1_000_000 })
      for (let user = 0; user < USERS; user++) {
        const scale = user === HOT_USER ? HOT_SCALE : 1
        await create({ user_id: user, limit: 10 * scale, period: 'hour', rollover_limit: user % 5 === 0 ? 8 : 0 })
        await create({ user_id: user, limit: 30 * scale, period: 'day', priority: 200, overage_limit: user % 3 })
        if (user % 3 === 1) await create({ user_id: user, kind: 'cap', limit: 15 * scale, period: 'hour' })
        // Force books past limits, which are compared for each value.
        if (FORCING_USERS.includes(user)) continue
        if (user % 4 === 2) await createValueCap(user, { per: 'recipient', counts: 'messages', limit: 3 * scale })
        if (user % 4 === 3) await createValueCap(user, { per: 'tag', counts: 'units', limit: 6 * scale })
      }
    },

    start() {
      const all = Promise.all([administrator(), administrator(), planner()])
      all.catch(() => {})
      return {
        async stop() {
          isStopped = true
          await all
        },
      }
    },
  }
}
