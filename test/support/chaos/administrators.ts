/** Administrators who make caps and grants, change limits and delete quotas while everything runs. */

import { setTimeout as pause } from 'node:timers/promises'
import { HOUR_MS } from '../../../src/domain/time.ts'
import type { Books } from './books.ts'
import { HOT_USER, USERS } from './senders.ts'
import type { Answer, World } from './world.ts'

const QUOTA = '/api/sms/admin/quota'
const MAX_A_USER = 8

export interface Administrators {
  /** Each user's first quotas: some run out in every window, some never end. */
  furnish(): Promise<void>
  start(): { stop(): Promise<void> }
  /** How many changes were answered. */
  readonly changes: number
}

/** One that an administrator made, and may change or delete. */
interface Made {
  id: number
  user: number
  limit: number
  /** Its limit may be lowered below what is used, so that it proves nothing any more. */
  mayBeLowered: boolean
}

export function createAdministrators(world: World, books: Books, random: () => number): Administrators {
  const made: Made[] = []
  let keys = 0
  let changes = 0
  let isOver = false
  const below = (bound: number) => Math.floor(random() * bound)
  const oneOf = <T>(list: readonly T[]) => list[below(list.length)]

  async function insist(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    for (;;) {
      const answer = await world.call(method, path, body, key)
      if (answer !== undefined) return answer
      await pause(50)
    }
  }

  /** Undefined if it would have ended before it was made: the call had to be repeated for so long. */
  async function make(body: Record<string, unknown>): Promise<{ id: number; limit: number } | undefined> {
    keys += 1
    const { status, body: answer } = await insist('POST', QUOTA, body, `chaos-${keys}`)
    changes += 1
    if (status === 201) return answer
    if (status !== 400 || !answer.detail.includes('expires_at')) {
      books.contradictions.push(`making ${JSON.stringify(body)}: ${status} ${JSON.stringify(answer)}`)
    }
    return undefined
  }

  async function add(user: number): Promise<void> {
    const kind = random() < 0.4 ? 'cap' : 'grant'
    const limit = kind === 'cap' ? 10 + below(100) : 1 + below(20)
    const scope = {
      ...(random() < 0.5 ? { period: oneOf(['hour', 'day']) } : {}),
      ...(random() < 0.2 ? { message_types: ['otp'] } : {}),
      ...(random() < 0.2 ? { countries: ['DE'] } : {}),
      // Some end within seconds of ours.
      ...(random() < 0.3 ? { expires_at: new Date(world.now() + 600_000 + below(4 * HOUR_MS)).toISOString() } : {}),
    }
    const quota = await make({
      user_id: user,
      kind,
      limit: user === HOT_USER ? limit * 20 : limit,
      priority: below(200),
      ...scope,
    })
    if (quota === undefined) return
    const isForAll = !('message_types' in scope || 'countries' in scope || 'expires_at' in scope)
    if (kind === 'cap' && isForAll) {
      books.caps.push({ id: quota.id, user, madeAt: performance.now(), endedAt: Number.POSITIVE_INFINITY })
    }
    made.push({ id: quota.id, user, limit: quota.limit, mayBeLowered: random() < 0.3 })
  }

  /** From now on a cap may be missing from what is granted. */
  function end({ id }: Made): void {
    const cap = books.caps.find(cap => cap.id === id)
    if (cap !== undefined) cap.endedAt = Math.min(cap.endedAt, performance.now())
  }

  async function change(quota: Made): Promise<void> {
    const lowers = quota.mayBeLowered && random() < 0.5
    if (lowers) books.lowered.add(quota.id)
    const limit = lowers ? below(quota.limit + 1) : quota.limit + below(50)
    const body =
      random() < 0.2 ? { enabled: random() < 0.7 } : { limit, ...(lowers ? { allow_below_usage: true } : {}) }
    if ('enabled' in body) end(quota)
    const answer = await insist('PUT', `${QUOTA}/${quota.id}`, body)
    if (answer.status === 200) quota.limit = answer.body.limit
    else if (answer.status !== 404 && answer.body.code !== 'below_usage')
      books.contradictions.push(`changing ${quota.id}: ${JSON.stringify(answer)}`)
    changes += 1
  }

  async function remove(quota: Made): Promise<void> {
    made.splice(made.indexOf(quota), 1)
    end(quota)
    // 404: it is gone since a call that had no answer.
    const { status } = await insist('DELETE', `${QUOTA}/${quota.id}`)
    if (status !== 204 && status !== 404) books.contradictions.push(`deleting ${quota.id}: ${status}`)
    changes += 1
  }

  async function administrator(): Promise<void> {
    while (!isOver) {
      const user = random() < 0.3 ? HOT_USER : below(USERS)
      const own = made.filter(quota => quota.user === user)
      const chosen = oneOf(own)
      if (chosen === undefined || (own.length < MAX_A_USER && random() < 0.4)) await add(user)
      else if (random() < 0.7) await change(chosen)
      else await remove(chosen)
      await pause(below(80))
    }
  }

  return {
    get changes() {
      return changes
    },

    async furnish() {
      for (let user = 0; user < USERS; user++) {
        const scale = user === HOT_USER ? 20 : 1
        await make({ user_id: user, limit: 10 * scale, period: 'hour', rollover_limit: user % 5 === 0 ? 8 : 0 })
        await make({ user_id: user, limit: 30 * scale, period: 'day', priority: 200, overage_limit: user % 3 })
        if (user % 3 === 0) await make({ user_id: user, kind: 'cap', limit: 15 * scale, period: 'hour' })
      }
    },

    start() {
      const all = Promise.all([administrator(), administrator()])
      all.catch(() => {})
      return {
        async stop() {
          isOver = true
          await all
        },
      }
    },
  }
}
