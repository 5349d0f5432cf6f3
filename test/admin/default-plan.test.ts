/** The default plan of newcomers: what is remembered of users, and that it is given once, wherever a transaction breaks off. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createDefaultPlan } from '../../src/admin/plans/default-plan.ts'
import { archivePlanIf, createPlanOnce, updatePlanOnce } from '../../src/admin/plans/plans.ts'
import type { Database, Transaction } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { plansOfUsers } from '../../src/db/plans/users.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { createRoom } from '../../src/http/platform/rate-limiter.ts'
import { freshDatabase } from '../support/database.ts'
import { openTransaction } from '../support/engine.ts'
import { untilWaiting } from '../support/sessions.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const { db } = await freshDatabase()
const author = { now: NOW, actor: 'ada', requestId: 'test' }
const draft = {
  name: 'Basic',
  slots: [
    { slot: 'monthly', limit: 100, period: 'month' as const },
    { slot: 'daily', kind: 'cap' as const, limit: 50, period: 'day' as const },
  ],
  is_default: true,
}
const created = await createPlanOnce(db, draft, author, undefined)
if (created.outcome !== 'created') throw new Error(created.outcome)
const { id: planId } = created.plan

let lastUser = 0
const newUser = () => ++lastUser
let monotonic = 0
let room = Number.POSITIVE_INFINITY
beforeEach(() => {
  room = Number.POSITIVE_INFINITY
})

const gate = (on: Database = db) =>
  createDefaultPlan({
    db: on,
    now: () => NOW,
    monotonicMs: () => monotonic,
    room: {
      take: () => room-- > 0,
      has: () => room > 0,
    },
  })

async function slotsOf(user: number): Promise<(string | undefined)[]> {
  const rows = await db.query<{ plan: { slot: string } | null }>({
    text: sql`select plan from quota where user_id = $1 order by id`,
    values: [user],
  })
  return rows.map(({ plan }) => plan?.slot)
}

describe('a newcomer', () => {
  test('is welcomed once, by any number of gates', async () => {
    const user = newUser()
    const gates = Array.from({ length: 6 }, () => gate())
    await Promise.all(gates.flatMap(one => [one.welcome([user]), one.welcome([user])]))
    expect(await slotsOf(user)).toEqual(['monthly', 'daily'])
    expect(gates.map(one => one.mayBe(user))).toEqual(gates.map(() => false))
  })

  test('is looked for again after a minute: an erasure may have made the user new', async () => {
    const user = newUser()
    const one = gate()
    await one.welcome([user])
    monotonic += 59_000
    expect(one.mayBe(user)).toBe(false)
    monotonic += 2_000
    expect(one.mayBe(user)).toBe(true)
    await one.welcome([user])
    expect(await slotsOf(user)).toEqual(['monthly', 'daily'])
  })

  test('that finds no room is denied, and asked for again after a second', async () => {
    const users = Array.from({ length: 4 }, newUser)
    const one = gate()
    room = 2
    await one.welcome(users)
    room = 5
    expect(users.map(user => one.mayBe(user))).toEqual([false, false, false, false])
    monotonic += 1_000
    expect(users.map(user => one.mayBe(user))).toEqual([false, false, true, true])
    await one.welcome(users)
    expect(await Promise.all(users.map(slotsOf))).toEqual(users.map(() => ['monthly', 'daily']))
  })

  test('takes room once, however often it fails before the plan is given', async () => {
    const user = newUser()
    let failures = 3
    const failing: Database = {
      ...db,
      transaction: (work, mode) =>
        mode === undefined && failures-- > 0 ? Promise.reject(new Error('away')) : db.transaction(work, mode),
    }
    const one = createDefaultPlan({ db: failing, now: () => NOW, room: createRoom(1, () => 0) })
    for (let n = 0; n < 3; n++) {
      await expect(one.welcome([user])).rejects.toThrow('away')
      expect(one.mayBe(user)).toBe(true)
    }
    await one.welcome([user])
    expect(await slotsOf(user)).toEqual(['monthly', 'daily'])
    expect(one.mayBe(newUser())).toBe(false)
  })

  test('who only checks sees what would be given, for a second', async () => {
    const user = newUser()
    const one = gate()
    expect(one.previewOf(user, NOW)).toBeUndefined()
    await one.look([user])
    expect(one.previewOf(user, NOW)).toMatchObject([{ limit: 100 }, { kind: 'cap', limit: 50 }])
    monotonic += 1_000
    expect(one.previewOf(user, NOW)).toBeUndefined()
    expect(await slotsOf(user)).toEqual([])
  })
})

/** A database whose `n`-th statement of a writing transaction, or the answer to its commit, is lost. */
function brokenAt(n: number): { db: Database; wasReached: () => boolean } {
  let steps = 0
  const step = () => {
    if (++steps === n) throw new Error('broken off')
  }
  const broken = (tx: Transaction) =>
    new Proxy(tx, {
      get(target, name) {
        if (name !== 'query') return Reflect.get(target, name)
        return async (statement: Parameters<Transaction['query']>[0]) => {
          const rows = await target.query(statement)
          step()
          return rows
        }
      },
    })
  const transaction: Database['transaction'] = async (work, mode) => {
    if (mode !== undefined) return db.transaction(work, mode)
    const result = await db.transaction(tx => work(broken(tx)))
    step()
    return result
  }
  const proxy = new Proxy(db, {
    get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
  })
  return { db: proxy, wasReached: () => steps >= n }
}

test('broken off after any statement, and after the commit, it is given once when it is asked for again', async () => {
  let steps = 0
  for (let n = 1; ; n++) {
    const user = newUser()
    const broken = brokenAt(n)
    const welcome = gate(broken.db).welcome([user])
    if (
      await welcome.then(
        () => !broken.wasReached(),
        () => false,
      )
    )
      break
    steps = n
    expect([0, 2]).toContain((await slotsOf(user)).length)
    await gate().welcome([user])
    expect(await slotsOf(user)).toEqual(['monthly', 'daily'])
  }
  expect(steps).toBeGreaterThan(10)
})

describe('a new version of the plan that is rolled out meanwhile', () => {
  let limit = 100
  /** Publishes a version. Resolves to its number. */
  async function publish(): Promise<number> {
    limit += 1
    const slots = [{ slot: 'monthly', limit, period: 'month' as const }]
    const updated = await updatePlanOnce(db, planId, { slots }, author, () => true, undefined)
    if (updated.outcome !== 'changed') throw new Error(updated.outcome)
    return updated.plan.version
  }
  const versionOf = async (user: number) => (await db.transaction(tx => plansOfUsers(tx, [user])))[0]?.plan_version

  test('passes no newcomer who is about to get the one before', async () => {
    const user = newUser()
    let version = 0
    const late: Database = {
      ...db,
      async transaction(work, mode) {
        // The plan is read, and no user who has it is left behind.
        if (mode === undefined && version === 0) version = await publish()
        return db.transaction(work, mode)
      },
    }
    await gate(late).welcome([user])
    expect([version, await versionOf(user)]).toEqual([version, version])
  })

  test('waits for a newcomer who is getting the one before', async () => {
    const user = newUser()
    const welcoming = await openTransaction(db, tx =>
      gate({
        ...db,
        transaction: (work, mode) => (mode === undefined ? work(tx) : db.transaction(work, mode)),
      }).welcome([user]),
    )
    const publishing = publish()
    await untilWaiting(db, 1)
    await welcoming.commit()
    const before = await versionOf(user)
    expect(await publishing).toBe((before ?? 0) + 1)
  })
})

test('that there is no default plan is remembered for a second', async () => {
  const { plan } = created
  await archivePlanIf(db, plan.id, author, () => true)
  const user = newUser()
  const one = gate()
  await one.welcome([user])
  expect([await slotsOf(user), one.mayBe(user)]).toEqual([[], false])
  await createPlanOnce(db, draft, author, undefined)
  expect(one.mayBe(user)).toBe(false)
  monotonic += 1_000
  expect(one.mayBe(user)).toBe(true)
  await one.welcome([user])
  expect(await slotsOf(user)).toEqual(['monthly', 'daily'])
})

afterAll(async () => {
  expect((await verify(db)).differences).toEqual([])
})
