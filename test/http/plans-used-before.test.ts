/** What was used counts on in quotas that plans make anew, through the API, in the ledger and in usage. */
import { describe, expect, test } from 'vitest'
import { verify } from '../../src/db/verify/verify.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { PLANS, startPlans } from './plans-fixture.ts'

const { app, call, clock, db, adminToken, senderToken, newUser, planOf, createPlan, change, give, rollOut } =
  await startPlans()
const MONTHLY = { slot: 'monthly', limit: 1000, period: 'month' }
const MESSAGES = { slot: 'messages', kind: 'cap', counts: 'messages', limit: 5, period: 'day' }

async function send(user_id: number, units: number, op = 'consume') {
  const body = { user_id, id: `${op}-${user_id}-${clock.now}-${units}`, units }
  return (await call('POST', `/api/sms/sender/quota/${op}`, { token: senderToken, body })).body
}
const quota = async (id: number) => (await call('GET', `/api/sms/admin/quota/${id}`)).body

/** A user of a plan who has used 700 units, in two messages. */
async function sender(...slots: object[]) {
  const [plan, user] = [await createPlan(...slots), newUser()]
  await give(user, plan)
  await send(user, 300)
  await send(user, 400)
  clock.now += 1_000
  return { plan, user }
}

describe('a slot that is made anew', () => {
  test.each([{ time_zone: 'Europe/Berlin' }, { anchor: '15' }, { period: null }])(
    'with %o gives no unit twice, however often the plan is given',
    async other => {
      const { plan, user } = await sender(MONTHLY, MESSAGES)
      await change(plan, { ...MONTHLY, ...other }, { ...MESSAGES, time_zone: 'Europe/Berlin' })
      const given = await give(user, plan)
      expect(given.slots).toMatchObject([
        { outcome: 'replaced', carried: 700 },
        { outcome: 'replaced', carried: 2 },
      ])
      const [first, second] = given.slots.map(({ quota_id }: { quota_id: number }) => quota_id)
      const again = await Promise.all([give(user, plan), give(user, plan, { fresh: true }), give(user, plan)])
      for (const { slots } of again) expect(slots).toMatchObject([{ carried: 0 }, { outcome: 'stays', carried: 0 }])
      expect(await quota(first)).toMatchObject({ used: 700, remaining: 300, version: 1 })
      expect(await quota(second)).toMatchObject({ used: 2, remaining: 3 })
      // Also by a clock that lags: there the quota before has not ended yet.
      for (const lag of [400, 0]) {
        clock.now -= lag
        expect(await send(user, 301)).toMatchObject({ granted: false, reason: 'quota_exhausted' })
        clock.now += lag
      }
      expect(await send(user, 300)).toMatchObject({ granted: true })
      // It is no message: usage knows those that were sent.
      expect((await verify(db, { userId: user })).differences).toEqual([])
      const today = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z&interval=day'
      const { items } = (await call('GET', `/api/sms/admin/quota/usage?user_id=${user}&${today}`)).body
      const sent = items.map(({ committed }: { committed: object }) => committed)
      expect(sent.filter(({ units }: { units: number }) => units > 0)).toEqual([{ units: 1000, messages: 3 }])
    },
  )

  test('for a shorter window counts what was sent in it', async () => {
    const { plan, user } = await sender(MONTHLY)
    clock.now += DAY_MS
    await send(user, 40)
    await send(user, 20, 'reserve')
    await change(plan, { ...MONTHLY, limit: 100, period: 'day' })
    expect((await give(user, plan)).slots).toMatchObject([{ carried: 60 }])
    expect((await verify(db, { userId: user })).differences).toEqual([])
  })

  test('for a shorter window counts what was handed on in it, and what came back does not count', async () => {
    const { plan, user } = await sender(MONTHLY)
    clock.now += DAY_MS
    const { quota_id } = (await call('GET', planOf(user))).body.slots[0]
    const keyed = (body: { units: number; to_user_id?: number }) => ({
      body,
      headers: { 'idempotency-key': `units-${body.units}` },
    })
    const handOn = keyed({ to_user_id: newUser(), units: 80 })
    const { transfer } = (await call('POST', `/api/sms/admin/quota/${quota_id}/transfer`, handOn)).body
    await call('POST', `/api/sms/admin/transfers/${transfer.id}/return`, keyed({ units: 20 }))
    for (const [period, carried] of [
      ['day', 60],
      ['hour', 60],
      ['month', 760],
      ['day', 60],
    ] as const) {
      await change(plan, { ...MONTHLY, limit: 100, period })
      expect((await give(user, plan)).slots, period).toMatchObject([{ outcome: 'replaced', carried }])
    }
    expect(await send(user, 41)).toMatchObject({ granted: false })
    expect((await verify(db, { userId: user })).differences).toEqual([])
  })

  test('in a plan that was taken away, or whose quota was deleted, goes on in the same window', async () => {
    const { plan, user } = await sender(MONTHLY)
    await call('DELETE', planOf(user))
    clock.now += HOUR_MS
    const [made] = (await give(user, plan)).slots
    expect(made).toMatchObject({ outcome: 'made', carried: 700 })
    await call('DELETE', `/api/sms/admin/quota/${made.quota_id}`)
    expect((await give(user, plan)).slots).toMatchObject([{ outcome: 'made', carried: 700 }])
    await call('DELETE', planOf(user))
    clock.now += 40 * DAY_MS
    expect((await give(user, plan)).slots).toMatchObject([{ outcome: 'made', carried: 0 }])
    expect((await verify(db, { userId: user })).differences).toEqual([])
  })

  test('in a plan that was taken away and given again at once has one quota, also by a clock that lags', async () => {
    const { plan, user } = await sender(MONTHLY)
    for (const lag of [0, 400]) {
      await call('DELETE', planOf(user))
      expect((await give(user, plan)).slots).toMatchObject([{ outcome: 'made', carried: 700 }])
      clock.now -= lag
      expect(await send(user, 301)).toMatchObject({ granted: false, reason: 'quota_exhausted' })
      clock.now += lag
    }
  })

  test('can begin anew', async () => {
    const { plan, user } = await sender(MONTHLY)
    await call('DELETE', planOf(user))
    expect((await give(user, plan, { fresh: true })).slots).toMatchObject([{ outcome: 'made', carried: 0 }])
    expect(await send(user, 1000)).toMatchObject({ granted: true })
  })

  test('by a file of users and plans goes on, too', async () => {
    const { plan, user } = await sender(MONTHLY)
    await call('DELETE', planOf(user))
    const answer = await app.inject({
      method: 'POST',
      url: '/api/sms/admin/quota/import',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/x-ndjson' },
      payload: `${JSON.stringify({ user_id: user, plan })}\n`,
    })
    expect(answer.statusCode, answer.body).toBe(200)
    const [{ quota_id }] = (await call('GET', planOf(user))).body.slots
    expect(await quota(quota_id)).toMatchObject({ used: 700 })
  })
})

describe('a roll-out', () => {
  test('says in a dry run what would be carried over, and with `fresh` who would get how much twice', async () => {
    const { plan, user } = await sender(MONTHLY)
    const other = newUser()
    await give(other, plan)
    await change(plan, { ...MONTHLY, limit: 700, anchor: '20' })
    const dry = await rollOut(plan, { dry_run: true })
    const line = { user_id: user, slots: [{ slot: 'monthly', used: 700 }] }
    expect(dry).toContainEqual({ record: 'carried', ...line })
    expect(dry).toContainEqual({ record: 'exhausted', user_id: user, slots: ['monthly'] })
    expect(dry.at(-1)).toMatchObject({ users: { changed: 2 }, carried: 1, again: 0, exhausted: 1 })
    const fresh = await rollOut(plan, { dry_run: true, fresh: true })
    expect(fresh).toContainEqual({ record: 'again', ...line })
    expect(fresh.at(-1)).toMatchObject({ users: { changed: 2 }, carried: 0, again: 1, exhausted: 0 })

    expect((await rollOut(plan, {})).at(-1)).toMatchObject({ users: { changed: 2 }, carried: 1, again: 0 })
    expect(await send(user, 1)).toMatchObject({ granted: false })
  })

  test('with `fresh` gives the units again', async () => {
    const { plan, user } = await sender(MONTHLY)
    await change(plan, { ...MONTHLY, anchor: '20' })
    expect((await rollOut(plan, { fresh: true })).at(-1)).toMatchObject({ carried: 0, again: 1 })
    expect(await send(user, 1000)).toMatchObject({ granted: true })
  })
})

describe('a slot with the anchor "joined"', () => {
  const JOINED = { ...MONTHLY, anchor: 'joined' }

  test('begins on the day on which each user got the plan, and a roll-out does not move it', async () => {
    const plan = await createPlan(JOINED)
    const users = [newUser(), newUser()]
    for (const user of users) {
      await give(user, plan)
      clock.now += 2 * DAY_MS
    }
    const anchors = async () => {
      const ids = await Promise.all(users.map(async user => (await call('GET', planOf(user))).body.slots[0].quota_id))
      return Promise.all(ids.map(async id => (await quota(id)).anchor))
    }
    const days = await anchors()
    expect(new Set(days).size).toBe(2)
    await change(plan, { ...JOINED, limit: 2000 })
    expect((await rollOut(plan, {})).at(-1)).toMatchObject({ quotas: { changed: 2, made: 0 } })
    expect(await anchors()).toEqual(days)
    expect((await call('GET', `${PLANS}/${plan}`)).body.slots).toMatchObject([{ anchor: 'joined' }])
  })

  test('is refused for other periods, and of a single quota', async () => {
    const weekly = await call('POST', PLANS, { body: { name: 'Basic', slots: [{ ...JOINED, period: 'week' }] } })
    expect(weekly).toMatchObject({ status: 400, body: { errors: [{ path: '/slots/0/anchor' }] } })
    const { slot: _, ...single } = JOINED
    const made = await call('POST', '/api/sms/admin/quota', { body: { user_id: 1, ...single } })
    expect(made).toMatchObject({ status: 400, body: { errors: [{ path: '/anchor' }] } })
  })
})

test('after all of this, verify finds no difference', async () => {
  expect((await verify(db)).differences).toEqual([])
})
