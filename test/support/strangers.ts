/** Strangers, whose first messages give them the default plan while what serves them is killed. */
import { expect } from 'vitest'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { MAX_TTL_SECONDS } from '../../src/domain/basics/bounds.ts'

/** No window of its quotas ends, which would divide their counters. */
export const DEFAULT_PLAN = {
  name: 'Basic',
  is_default: true,
  slots: [
    { slot: 'ceiling', kind: 'cap', limit: 50 },
    { slot: 'pack', limit: 100 },
  ],
}

/** The ids of strangers begin here, and so do those that the service gives. Other users of a test have lower ones. */
const FIRST_STRANGER = 700_000

/** A user who was never seen. */
type Stranger = { user_id: number } | { user_ref: string }

export const byId = (count: number): Stranger[] =>
  Array.from({ length: count }, (_, n) => ({ user_id: FIRST_STRANGER + n }))

export const byReference = (count: number): Stranger[] =>
  Array.from({ length: count }, (_, n) => ({ user_ref: `stranger-${n}` }))

export interface StrangersAnswer {
  granted?: boolean
  user_id?: number
}

/** Calls an operation of senders. Undefined: there is no answer. */
type SendCall = (op: 'reserve' | 'consume', message: object) => Promise<StrangersAnswer | undefined>

/** What senders were answered. */
interface Sent {
  denied: object[]
  /** By the id of the user that an answer names: the units that were acknowledged. */
  units: Map<number, number>
}

export const nothingSent = (): Sent => ({ denied: [], units: new Map() })

/**
 * Reserves the units of a message of each stranger, and consumes those of another, all at once, until all are granted.
 *
 * @param disturb kills during a round of calls, and resolves when those have ended
 * @param sent gets what is answered, beside what others were
 */
export async function sendOfStrangers(
  strangers: readonly Stranger[],
  call: SendCall,
  disturb: (round: number, calls: Promise<unknown>) => Promise<unknown>,
  sent = nothingSent(),
): Promise<Sent> {
  const open = new Set(
    strangers.flatMap(stranger => [
      { op: 'consume', message: { ...stranger, id: 'one', units: 1 } } as const,
      // Whether its time has ended or not, used and reserved have its units.
      {
        op: 'reserve',
        message: { ...stranger, id: 'two', units: 2, on_expiry: 'commit', ttl_seconds: MAX_TTL_SECONDS },
      } as const,
    ]),
  )
  for (let round = 0; open.size > 0; round++) {
    const calls = [...open].map(async one => {
      const answer = await call(one.op, one.message)
      if (answer === undefined) return
      const { granted, user_id: user } = answer
      if (granted !== true || user === undefined) {
        sent.denied.push({ ...one, answer })
        return
      }
      open.delete(one)
      sent.units.set(user, (sent.units.get(user) ?? 0) + one.message.units)
    })
    await disturb(round, Promise.all(calls))
  }
  return sent
}

/** Each stranger is one user with the plan once, and is charged exactly what was acknowledged; none was denied it. */
export async function expectGivenOnce(db: Database, strangers: readonly Stranger[], sent: Sent): Promise<void> {
  expect(sent.denied).toEqual([])
  expect(sent.units.size).toBe(strangers.length)
  const found = await db.query({
    text: sql`select a.user_id, a.plan_version, q.plan ->> 'slot' as slot, q.used + q.reserved as drawn
      from account a left join quota q on q.shard = a.shard and q.user_id = a.user_id
      where a.user_id >= $1 order by a.user_id, slot`,
    values: [FIRST_STRANGER],
  })
  const users = [...sent.units].sort(([one], [other]) => one - other)
  expect(found).toEqual(
    users.flatMap(([user_id, drawn]) =>
      DEFAULT_PLAN.slots.map(({ slot }) => ({ user_id, plan_version: 1, slot, drawn })),
    ),
  )
  expect((await verify(db)).differences).toEqual([])
}
