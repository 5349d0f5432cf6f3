/** Calls that are repeated until a service answers them, as a sender's are. */
import { setTimeout as pause } from 'node:timers/promises'
import type { EpochMs } from '../../../src/domain/time/time.ts'
import { type Answer, type Deployment, RETENTION_S } from './deployment.ts'
import type { RunRecord } from './record.ts'

/** Commands are repeated only this soon, so that retention has not deleted the id. */
export const MAX_REPEAT_S = 5

/** A check is repeated for longer: on a busy machine both services may be starting for half a minute. */
const CHECK_REPEAT_S = 300

const ADMIN = '/api/sms/admin/'

/** Stands for the users of a call about several. */
export const NO_USER = -1

interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  body?: object
  /** The Idempotency-Key. */
  key?: string
  /** The service that gets the first attempt; either if left out. */
  service?: number | undefined
}

/** The answer to a call. */
export interface Reply extends Answer {
  /** When the answered attempt began, on `performance.now()`. */
  readonly begunAt: number
  /** The same on the clock of the service that is behind. */
  readonly clock: EpochMs
  /** Whether an attempt before was not answered: its outcome is unknown. */
  readonly isRepeated: boolean
}

/** Calls about one user until a service answers. A 503 is no answer: it leaves open whether the command took effect. */
export type UntilAnswered = (user: number, call: Call) => Promise<Reply>

export function createCaller(deployment: Deployment, record: RunRecord, random: () => number): UntilAnswered {
  return async (user, { method, path, body, key, service }) => {
    const repeatS = path.endsWith('/check') ? CHECK_REPEAT_S : RETENTION_S - MAX_REPEAT_S
    const giveUpAt = performance.now() + repeatS * 1_000
    for (let attempt = 0; ; attempt++) {
      const begunAt = performance.now()
      const clock = deployment.earliestNow()
      const chosen = attempt === 0 && service !== undefined ? service : Number(random() < 0.5)
      const attempted = { user, from: begunAt, to: Number.POSITIVE_INFINITY }
      if (method !== 'GET' && path.startsWith(ADMIN)) record.changes.push(attempted)
      const answer = await deployment.call(chosen, method, path, body, key)
      attempted.to = performance.now()
      if (answer !== undefined && answer.status !== 503) {
        if (isBesideHeldRows(record, user, begunAt)) record.count('answered beside held rows')
        return { ...answer, begunAt, clock, isRepeated: attempt > 0 }
      }
      noteUnavailable(record, user, begunAt, answer)
      if (performance.now() > giveUpAt) {
        throw new Error(`no service answers ${method} ${path} ${JSON.stringify(body)}`)
      }
      // Longer and longer: 64 senders that ask at once keep a service from starting.
      await pause((10 + random() * 60) * Math.min(10, 1 + attempt / 4))
    }
  }
}

/** Records an attempt that was answered with 503, or not at all. */
export function noteUnavailable(record: RunRecord, user: number, from: number, answer: Answer | undefined): void {
  record.count(answer === undefined ? 'unanswered' : 'unavailable')
  const text = answer === undefined ? 'no answer' : `${answer.status} ${answer.body.code}`
  record.unavailable.push({ user, from, to: performance.now(), answer: text })
}

/** Whether strangers have held rows of other users, and of none of this one, since before `from`. */
function isBesideHeldRows({ holds }: RunRecord, user: number, from: number): boolean {
  const current = holds.filter(hold => hold.lockedAt < from && hold.to === Number.POSITIVE_INFINITY)
  return user !== NO_USER && current.length > 0 && current.every(hold => hold.user !== user)
}
