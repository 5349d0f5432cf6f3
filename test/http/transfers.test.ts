import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { IS_SETTLED, removalOf, removeReservations } from '../../src/db/reservations/settled.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { openTransaction } from '../support/engine.ts'
import { untilWaiting } from '../support/sessions.ts'
import { startSender } from './sender-fixture.ts'

const service = await startSender()
const { call, clock, db, allow, ask, someone } = service
const TRANSFERS = '/api/sms/admin/transfers'

let lastKey = 0
const keyed = (body: object, key = `k${++lastKey}`) => ({ body, headers: { 'idempotency-key': key } })
const give = (quota: number, body: object, key?: string) =>
  call('POST', `/api/sms/admin/quota/${quota}/transfer`, keyed(body, key))
const giveBack = (id: number, body: object = {}, key?: string) =>
  call('POST', `${TRANSFERS}/${id}/return`, keyed(body, key))
const quotaOf = async (id: number) => (await call('GET', `/api/sms/admin/quota/${id}`)).body
const historyOf = async (id: number, part: 'history' | 'windows') =>
  (await call('GET', `/api/sms/admin/quota/${id}/${part}`)).body.items
const iso = (at: number) => new Date(at).toISOString()

/** What the user can spend of undeleted grants, by the definition of the transfer. */
const sumOf = async (...quotas: number[]) =>
  (await Promise.all(quotas.map(quotaOf))).reduce((sum, q) => sum + q.limit + q.rolled_over - q.used - q.reserved, 0)

/** Everything that verify proves of users holds, the usage included. */
async function expectVerified(...users: number[]): Promise<void> {
  await createUsageRollup({ db, log: console }).rollUpOnce()
  for (const userId of users) expect((await verify(db, { userId })).differences).toEqual([])
}

async function aTransfer(units = 40, draft: object = {}) {
  const [giver, receiver] = [someone(), someone()]
  const from = await allow({
    user_id: giver,
    limit: 100,
    period: 'month',
    name: 'Package',
    countries: ['FR'],
    ...draft,
  })
  const { status, body } = await give(from, { to_user_id: receiver, units, reason: 'Branch' })
  expect(status, JSON.stringify(body)).toBe(201)
  return { giver, receiver, from, transfer: body.transfer, to: body.transfer.to_quota_id as number, body }
}

describe('a transfer', () => {
  test('moves units to a grant of the receiver, for the same messages and until the same end', async () => {
    const { giver, receiver, from, to, body } = await aTransfer()
    const { window_start, window_end } = await quotaOf(from)
    expect(body.transfer).toEqual({
      id: expect.any(Number),
      user_id: giver,
      quota_id: from,
      window_start,
      to_user_id: receiver,
      to_quota_id: to,
      units: 40,
      returned: 0,
      reason: 'Branch',
      expires_at: window_end,
      at: iso(clock.now),
      actor: expect.any(String),
    })
    expect(body.quota).toMatchObject({ id: from, used: 40, remaining: 60, version: 2 })
    expect(await quotaOf(from)).toEqual(body.quota)
    const made = {
      user_id: receiver,
      kind: 'grant',
      period: null,
      limit: 40,
      used: 0,
      countries: ['FR'],
      name: 'Package',
    }
    expect(await quotaOf(to)).toMatchObject({ ...made, expires_at: window_end, status: 'active' })
    expect(await sumOf(from, to)).toBe(100)
    expect((await call('GET', `${TRANSFERS}/${body.transfer.id}`)).body).toEqual(body.transfer)
    const cause = { reason: 'Branch', transfer_id: body.transfer.id }
    expect((await historyOf(from, 'history'))[0]).toMatchObject({ action: 'updated', version: 2, ...cause })
    expect(await historyOf(to, 'history')).toMatchObject([{ action: 'created', version: 1, ...cause }])

    const draw = { units: 30, country: 'FR' }
    expect((await ask('consume', { ...draw, user_id: receiver, id: 'a' })).body.granted).toBe(true)
    expect((await ask('consume', { ...draw, user_id: giver, id: 'a' })).body.granted).toBe(true)
    expect((await ask('consume', { ...draw, units: 31, user_id: giver, id: 'b' })).body).toMatchObject({
      granted: false,
    })
    await expectVerified(giver, receiver)
  })

  test('is no message in usage, and a reservation of the service’s own', async () => {
    const { giver, transfer } = await aTransfer()
    await createUsageRollup({ db, log: console }).rollUpOnce()
    const period = `from=${iso(clock.now - DAY_MS)}&to=${iso(clock.now + DAY_MS)}`
    const usage = await call('GET', `/api/sms/admin/quota/usage?user_id=${giver}&interval=day&${period}`)
    const nothing = { committed: { units: 0, messages: 0 } }
    expect(usage.body.items).toMatchObject([nothing, nothing, nothing])
    const { items } = (await call('GET', `/api/sms/admin/quota/reservations?user_id=${giver}`)).body
    expect(items).toMatchObject([{ id: `_transfer:${transfer.id}`, state: 'committed', units: 40 }])
    expect((await ask('refund', { user_id: giver, id: `_transfer:${transfer.id}` })).status).toBe(400)
  })

  test('tells both users', async () => {
    const { giver, receiver, from, to, transfer } = await aTransfer()
    const told = async (user: number) =>
      (await call('GET', `/api/sms/admin/events?user_id=${user}&types=transfer.made,transfer.returned`)).body.items
    const shown = { id: transfer.id, units: 40, returned: 0, reason: 'Branch', expires_at: transfer.expires_at }
    expect(await told(giver)).toMatchObject([
      { data: { transfer: shown, units: 40, direction: 'out', quota: { id: from } } },
    ])
    expect(await told(receiver)).toMatchObject([
      { data: { transfer: shown, units: 40, direction: 'in', quota: { id: to } } },
    ])
    await giveBack(transfer.id, { units: 15 })
    expect((await told(giver))[1]).toMatchObject({ type: 'transfer.returned', data: { units: 15, direction: 'in' } })
    expect((await told(receiver))[1]).toMatchObject({
      type: 'transfer.returned',
      data: { units: 15, direction: 'out' },
    })
  })

  test('may stay with the same user, and end earlier', async () => {
    const user = someone()
    const from = await allow({ user_id: user, limit: 10, period: 'day' })
    const end = iso(clock.now + HOUR_MS)
    const { status, body } = await give(from, { to_user_id: user, units: 10, expires_at: end })
    expect(status).toBe(201)
    expect(await quotaOf(body.transfer.to_quota_id)).toMatchObject({ user_id: user, limit: 10, expires_at: end })
    expect(await quotaOf(from)).toMatchObject({ remaining: 0, status: 'exhausted' })
    await expectVerified(user)
  })

  test('of many at once never gives more than there is', async () => {
    const [giver, one, two] = [someone(), someone(), someone()]
    const from = await allow({ user_id: giver, limit: 50 })
    // Between the same two users in both directions: accounts are locked in one order.
    const back = await allow({ user_id: one, limit: 50 })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => [
        give(from, { to_user_id: n % 2 === 0 ? one : two, units: 10 }),
        give(back, { to_user_id: giver, units: 10 }),
        ask('consume', { user_id: giver, id: `m${n}`, units: 1 }),
      ]).flat(),
    )
    const made = answers.filter(({ status, body }) => status === 201 && body.transfer.quota_id === from)
    const { used, remaining } = await quotaOf(from)
    expect(remaining).toBe(50 - used)
    expect(made.length * 10).toBeLessThanOrEqual(50)
    await expectVerified(giver, one, two)
  })
})

describe('is refused', () => {
  test('more than is neither used nor reserved, with how many are', async () => {
    const user = someone()
    const from = await allow({ user_id: user, limit: 10, overage_limit: 5 })
    await ask('reserve', { user_id: user, id: 'a', units: 4 })
    const receiver = someone()
    const { status, body } = await give(from, { to_user_id: receiver, units: 7 })
    expect([status, body.code, body.available]).toEqual([422, 'not_enough_units', 6])
    expect((await call('GET', `/api/sms/admin/users/${receiver}`)).status).toBe(404)
    expect((await give(from, { to_user_id: receiver, units: 6 })).status).toBe(201)
  })

  test.each([
    ['a cap', { kind: 'cap' }],
    ['a grant without a limit', { limit: null }],
    ['a suspended grant', { enabled: false }],
    // Later than other tests move the clock.
    ['a grant that has not begun', { starts_at: iso(clock.now + 30 * DAY_MS) }],
  ])('%s', async (_, draft) => {
    const from = await allow({ user_id: someone(), limit: 10, ...draft })
    const { status, body } = await give(from, { to_user_id: someone(), units: 1 })
    expect([status, body.code]).toEqual([422, 'not_transferable'])
  })

  test('an end that is over, or later than that of the units', async () => {
    const from = await allow({ user_id: someone(), limit: 10, period: 'day' })
    for (const expires_at of [iso(clock.now), iso(clock.now + 2 * DAY_MS)]) {
      const { status, body } = await give(from, { to_user_id: someone(), units: 1, expires_at })
      expect([status, body.errors[0].path]).toEqual([400, '/expires_at'])
    }
  })

  test('without a key, and of a quota or transfer that does not exist', async () => {
    const from = await allow({ user_id: someone(), limit: 10 })
    const body = { to_user_id: someone(), units: 1 }
    expect((await call('POST', `/api/sms/admin/quota/${from}/transfer`, { body })).status).toBe(400)
    expect((await give(64, body)).status).toBe(404)
    expect((await giveBack(64)).status).toBe(404)
    expect((await call('GET', `${TRANSFERS}/64`)).status).toBe(404)
  })

  test('a user who is being erased', async () => {
    const from = await allow({ user_id: someone(), limit: 10 })
    const receiver = someone()
    await allow({ user_id: receiver, limit: 1 })
    expect((await call('DELETE', `/api/sms/admin/users/${receiver}/data`)).status).toBe(202)
    const { status, body } = await give(from, { to_user_id: receiver, units: 1 })
    expect([status, body.code]).toEqual([409, 'being_erased'])
  })
})

describe('a return', () => {
  test('gives back what is left over, to the window that it came from', async () => {
    const { giver, receiver, from, to, transfer } = await aTransfer()
    await ask('consume', { user_id: receiver, id: 'a', units: 15, country: 'FR' })
    await ask('reserve', { user_id: receiver, id: 'b', units: 5, country: 'FR' })
    const part = await giveBack(transfer.id, { units: 8, reason: 'Closed' }, `part-${from}`)
    expect(part.body).toMatchObject({ transfer: { returned: 8 }, quota: { id: from, used: 32, version: 3 } })
    expect((await giveBack(transfer.id, { units: 8, reason: 'Closed' }, `part-${from}`)).body).toEqual(part.body)
    const cause = { action: 'updated', reason: 'Closed', transfer_id: transfer.id }
    for (const quota of [from, to]) expect((await historyOf(quota, 'history'))[0]).toMatchObject(cause)
    const audit = await call('GET', `/api/sms/admin/audit?resource=quota&thing_id=${to}`)
    expect(audit.body.items).toMatchObject([cause, { reason: 'Branch', transfer_id: transfer.id }])
    const tooMany = await giveBack(transfer.id, { units: 13 })
    expect([tooMany.status, tooMany.body.available]).toEqual([422, 12])
    expect((await giveBack(transfer.id)).body).toMatchObject({ transfer: { returned: 20 }, quota: { used: 20 } })
    expect(await quotaOf(to)).toMatchObject({ limit: 20, used: 15, reserved: 5, remaining: 0 })
    expect((await giveBack(transfer.id)).body).toMatchObject({ code: 'not_enough_units', available: 0 })
    expect(await sumOf(from, to)).toBe(80)
    expect((await ask('consume', { user_id: giver, id: 'all', units: 80, country: 'FR' })).body.granted).toBe(true)
    await expectVerified(giver, receiver)
  })

  test('to a window that is over is history only', async () => {
    const { giver, receiver, from, transfer } = await aTransfer(40, { period: 'day' })
    clock.now += DAY_MS
    const { status, body } = await giveBack(transfer.id, { units: 30 })
    expect([status, body.quota]).toMatchObject([200, { id: from, used: 0, remaining: 100 }])
    expect((await historyOf(from, 'windows'))[0]).toMatchObject({ used: 10 })
    expect((await giveBack(transfer.id)).body).toMatchObject({ transfer: { returned: 40 } })
    expect((await historyOf(from, 'windows'))[0]).toMatchObject({ used: 0 })
    await expectVerified(giver, receiver)
  })

  test('works after retention has removed the giver’s reservation', async () => {
    const { giver, receiver, from, transfer } = await aTransfer(40, { period: 'year' })
    clock.now += DAY_MS
    await createRetention({ db, now: () => clock.now, retentionMs: 1 }).removeOnce(clock.now)
    expect((await giveBack(transfer.id, { units: 30 })).body).toMatchObject({ quota: { id: from, used: 10 } })
    await expectVerified(giver, receiver)
  })

  test.each(['giver', 'receiver'])(
    'is refused if the quota of the %s was deleted: the transfer is still there',
    async side => {
      const { from, to, transfer } = await aTransfer()
      await call('DELETE', `/api/sms/admin/quota/${side === 'giver' ? from : to}`)
      expect(await giveBack(transfer.id)).toMatchObject({ status: 422, body: { code: 'not_transferable' } })
      expect((await call('GET', `${TRANSFERS}/${transfer.id}`)).body).toMatchObject({ returned: 0 })
    },
  )

  test('waits for retention that is removing the giver’s reservation', async () => {
    const { giver, receiver, from, transfer } = await aTransfer()
    const page = sql`select user_id, id from reservation where shard = $1 and user_id = $2`
    const text = removalOf(page, IS_SETTLED, sql`(select count(*) from page) as read`)
    const shard = shardOf(giver)
    const removal = await openTransaction(db, tx => removeReservations(tx, shard, { text, values: [shard, giver] }))
    expect(removal.result.removed).toBe(1)
    const returned = giveBack(transfer.id, { units: 30 })
    await untilWaiting(db, 1)
    await removal.commit()
    expect(await returned).toMatchObject({ status: 200, body: { quota: { id: from, used: 10 } } })
    await expectVerified(giver, receiver)
  })

  test('of many at once gives each unit back once', async () => {
    const { giver, from, to, transfer, receiver } = await aTransfer()
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, n) => [
        giveBack(transfer.id, { units: 10 }),
        ask('consume', { user_id: receiver, id: `m${n}`, units: 3, country: 'FR' }),
      ]).flat(),
    )
    const returned = answers.filter(({ status, body }) => status === 200 && body.transfer !== undefined).length * 10
    expect(await quotaOf(from)).toMatchObject({ used: 40 - returned })
    expect((await quotaOf(to)).limit).toBe(40 - returned)
    await expectVerified(giver, receiver)
  })
})

test('after all of this, verify finds no difference in any user or shard', async () => {
  await createUsageRollup({ db, log: console }).rollUpOnce()
  expect((await verify(db)).differences).toEqual([])
})
