/** What leaves a user of a plan, by sending and by handing on, is never more than the plan gave: through the API. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { lockKnownAccounts } from '../../src/db/quotas/quotas.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { calendarOf } from '../../src/domain/time/period.ts'
import { DAY_MS, type EpochMs, HOUR_MS } from '../../src/domain/time/time.ts'
import { lastBoundary } from '../../src/domain/time/window.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { openTransaction } from '../support/engine.ts'
import { startService } from '../support/service.ts'
import { untilWaiting } from '../support/sessions.ts'

const { app, call, clock, db, adminToken, senderToken } = await startService()
const ADMIN = '/api/sms/admin'
const MONTHLY = { slot: 'main', limit: 100, period: 'month' }

let last = 0
const next = () => ++last
const keyed = (body: object) => ({ body, headers: { 'idempotency-key': `key-${next()}` } })
const planOf = (user: number) => `${ADMIN}/users/${user}/plan`
const createPlan = async (slot: object) =>
  (await call('POST', `${ADMIN}/plans`, { body: { name: 'Basic', slots: [slot] } })).body.id as number
const change = (plan: number, slot: object) => call('PUT', `${ADMIN}/plans/${plan}`, { body: { slots: [slot] } })
const quotaOf = async (id: number) => (await call('GET', `${ADMIN}/quota/${id}`)).body
const transfer = (quota: number, units: number) =>
  call('POST', `${ADMIN}/quota/${quota}/transfer`, keyed({ to_user_id: next(), units }))
const giveBack = (id: number, units: number) => call('POST', `${ADMIN}/transfers/${id}/return`, keyed({ units }))

async function give(user: number, plan_id: number, more: object = {}) {
  const { status, body } = await call('PUT', planOf(user), { body: { plan_id, ...more } })
  expect(status, JSON.stringify(body)).toBe(200)
  return body.slots[0]
}

async function stream(url: string, payload: object) {
  const type = url.endsWith('import') ? 'application/x-ndjson' : 'application/json'
  const headers = { authorization: `Bearer ${adminToken}`, 'idempotency-key': `key-${next()}`, 'content-type': type }
  const answer = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(payload) })
  expect(answer.statusCode, answer.body).toBe(200)
}

async function send(user_id: number, units: number): Promise<boolean> {
  const body = { user_id, id: `m${next()}`, units }
  return (await call('POST', '/api/sms/sender/quota/consume', { token: senderToken, body })).body.granted
}

async function expectVerified(userId: number) {
  expect((await verify(db, { userId })).differences).toEqual([])
}

/** A user of a plan who has handed on 80 of 100 units, and whose slot was made anew. */
async function remade(second: object, laterMs = HOUR_MS) {
  const [plan, user] = [await createPlan(MONTHLY), next()]
  const { quota_id: first } = await give(user, plan)
  const { id } = (await transfer(first, 80)).body.transfer
  clock.now += laterMs
  await change(plan, { ...MONTHLY, ...second })
  const made = await give(user, plan)
  return { plan, user, first, id, second: made.quota_id as number, carried: made.carried as number }
}

describe('units that come back to a quota whose slot was made anew', () => {
  test.each(['', 'after retention has removed what the new one began with'])('are in the new one %s', async removed => {
    const { plan, user, first, id, second, carried } = await remade({ time_zone: 'Europe/Berlin' })
    expect(carried).toBe(80)
    clock.now += 1
    if (removed) await createRetention({ db, now: () => clock.now, retentionMs: 0 }).removeOnce(clock.now)
    expect((await giveBack(id, 50)).body).toMatchObject({ transfer: { returned: 50 }, quota: { id: first, used: 30 } })
    expect(await quotaOf(second)).toMatchObject({ used: 30, remaining: 70, version: 2 })
    const { items } = (await call('GET', `${ADMIN}/quota/${second}/history`)).body
    expect(items[0]).toMatchObject({ action: 'updated', transfer_id: id, before: { used: 80 }, after: { used: 30 } })
    expect(await send(user, 71)).toBe(false)
    expect(await send(user, 70)).toBe(true)
    await expectVerified(user)
    await change(plan, MONTHLY)
    expect(await give(user, plan)).toMatchObject({ outcome: 'replaced', carried: 100 })
    expect((await giveBack(id, 30)).status).toBe(200)
    expect(await send(user, 31)).toBe(false)
    expect(await send(user, 30)).toBe(true)
    await expectVerified(user)
  })

  test('are history only where the new one did not count them', async () => {
    const { user, id, second, carried } = await remade({ period: 'day' }, DAY_MS)
    expect(carried).toBe(0)
    expect(await send(user, 60)).toBe(true)
    expect((await giveBack(id, 80)).status).toBe(200)
    expect(await quotaOf(second)).toMatchObject({ used: 60, version: 1 })
    await expectVerified(user)
  })

  test('are history only once the window is over that counted them', async () => {
    const { user, id, second } = await remade({ period: 'day' })
    clock.now += DAY_MS
    expect(await send(user, 10)).toBe(true)
    expect((await giveBack(id, 80)).status).toBe(200)
    expect(await quotaOf(second)).toMatchObject({ used: 10 })
    await expectVerified(user)
  })

  test('are in one that is being made at the same time', async () => {
    const [plan, user] = [await createPlan(MONTHLY), next()]
    const { id } = (await transfer((await give(user, plan)).quota_id, 80)).body.transfer
    await change(plan, { ...MONTHLY, time_zone: 'Europe/Berlin' })
    // It writes nothing, so that those who wait go on in their order.
    const lock = await openTransaction(db, tx => lockKnownAccounts(tx, [user]))
    const giving = give(user, plan)
    await untilWaiting(db, 1)
    const returning = giveBack(id, 50)
    await untilWaiting(db, 2)
    await lock.commit()
    const { quota_id, carried } = await giving
    expect([carried, (await returning).status]).toEqual([80, 200])
    expect(await quotaOf(quota_id)).toMatchObject({ used: 30, remaining: 70 })
    await expectVerified(user)
  })
})

/* ── For any history ────────────────────────────────────────────────────────────────────────────────────────────── */

const PERIODS = ['day', 'month', 'year', null] as const
type Period = (typeof PERIODS)[number]
const WAYS = ['give', 'fresh', 'take away and give', 'other plan', 'roll-out', 'import'] as const

const anyStep = fc.oneof(
  fc.record({ do: fc.constant('send' as const), units: fc.integer({ min: 1, max: 70 }) }),
  fc.record({ do: fc.constant('transfer' as const), units: fc.integer({ min: 1, max: 70 }) }),
  fc.record({ do: fc.constant('return' as const), of: fc.nat(3), units: fc.integer({ min: 1, max: 70 }) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, HOUR_MS, 11 * HOUR_MS, DAY_MS, 12 * DAY_MS) }),
  fc.record({
    do: fc.constant('change' as const),
    slot: fc.record({ period: fc.constantFrom(...PERIODS), limit: fc.constantFrom(60, 100) }),
    way: fc.constantFrom(...WAYS),
  }),
)
type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never

/** A user, and what has left since the plan was given anew. */
async function aUser() {
  const [plans, user] = [[await createPlan(MONTHLY), await createPlan(MONTHLY)], next()]
  let plan = plans[0] as number
  let quota: number = (await give(user, plan)).quota_id
  let left: { at: EpochMs; units: number; transfer: number | null }[] = []
  const slots: { from: EpochMs; period: Period; limit: number }[] = [{ from: clock.now, period: 'month', limit: 100 }]

  async function get(way: (typeof WAYS)[number]) {
    if (way === 'roll-out') await stream(`${ADMIN}/plans/${plan}/roll-out`, { users: [user] })
    if (way === 'import') await stream(`${ADMIN}/quota/import`, { user_id: user, plan })
    if (way === 'take away and give') await call('DELETE', planOf(user))
    const given = await give(user, plan, way === 'fresh' ? { fresh: true } : {})
    const made = await db.query({
      text: sql`select from quota where id = $1 and (plan -> 'fresh')::bool`,
      values: [given.quota_id],
    })
    if (made.length > 0 && given.quota_id !== quota) left = []
    quota = given.quota_id
  }

  return {
    user,
    async take(step: Step) {
      switch (step.do) {
        case 'wait':
          clock.now += step.ms
          return
        case 'send':
          if (await send(user, step.units)) left.push({ at: clock.now, units: step.units, transfer: null })
          return
        case 'transfer': {
          const { status, body } = await transfer(quota, step.units)
          if (status === 201) left.push({ at: clock.now, units: step.units, transfer: body.transfer.id })
          return
        }
        case 'return': {
          const handedOn = left.filter(({ transfer: id }) => id !== null)[step.of]
          if (handedOn?.transfer == null) return
          if ((await giveBack(handedOn.transfer, step.units)).status === 200) handedOn.units -= step.units
          return
        }
        case 'change':
          if (step.way === 'other plan') plan = plans.find(id => id !== plan) as number
          await change(plan, { ...MONTHLY, ...step.slot })
          await get(step.way)
          slots.push({ from: clock.now, ...step.slot })
      }
    },
    /** Of each day, month and year so far, and of all time, in which the plan had no shorter window: what left, and the most that it gave. */
    windows() {
      return PERIODS.flatMap((period, rank) => {
        const calendar = calendarOf({ period, anchor: null, time_zone: 'UTC' })
        const begins = (at: EpochMs) => (calendar === null ? 0 : lastBoundary(calendar, at))
        return [...Map.groupBy(left, ({ at }) => begins(at))].flatMap(([begin, entries]) => {
          const held = slots.filter(
            (slot, index) =>
              (begins(slot.from) <= begin && (slots[index + 1]?.from ?? Infinity) >= begin) ||
              begins(slot.from) === begin,
          )
          if (held.some(slot => PERIODS.indexOf(slot.period) < rank)) return []
          const units = entries.reduce((sum, entry) => sum + entry.units, 0)
          return [{ period, begin, units, most: Math.max(...held.map(({ limit }) => limit)) }]
        })
      })
    },
  }
}

test('no day, month or year of any history has more than the plan gave for it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 18 }), async steps => {
      const ann = await aUser()
      for (const step of steps) {
        await ann.take(step)
        for (const { period, begin, units, most } of ann.windows())
          expect(units, `${period} from ${new Date(begin).toISOString()}`).toBeLessThanOrEqual(most)
      }
      await expectVerified(ann.user)
    }),
    { numRuns: 25 },
  )
})
