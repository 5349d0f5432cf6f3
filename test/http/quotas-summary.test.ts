import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { START, startService } from '../support/service.ts'

const at = (offset: number) => new Date(START + offset).toISOString()

const service = await startService()
const { call, db } = service

async function create(body: object, counters: { used?: number; reserved?: number; rolled_over?: number } = {}) {
  const { status, body: quota } = await call('POST', '/api/sms/admin/quota', { body })
  expect(status, JSON.stringify(quota)).toBe(201)
  // Sets the counters directly, without a sender.
  const { used = 0, reserved = 0, rolled_over = 0 } = counters
  await db.query({
    text: sql`update quota set used = $2, reserved = $3, rolled_over = $4 where id = $1`,
    values: [quota.id, used, reserved, rolled_over],
  })
  return quota.id as number
}

async function summaryOf(user: number) {
  const asAdmin = await call('GET', `/api/sms/admin/quota/summary?user_id=${user}`)
  const asUser = await call('GET', '/api/sms/quota/summary', { token: await service.userToken(user) })
  expect(asUser.status).toBe(200)
  expect(asUser.body).toEqual(asAdmin.body)
  return asAdmin.body
}

const NOTHING = {
  default_plan: null,
  as_of: at(0),
  limit: 0,
  used: 0,
  reserved: 0,
  remaining: 0,
  overage: 0,
  unlimited: false,
  available: 0,
  denial: { reason: 'no_quota', limiting_quota_id: null, retry_at: null },
  available_until: null,
  scopes: [],
  paused: [],
  by_status: {},
  next_reset: null,
  next_expiry: null,
  caps: [],
  breakdown: [],
  forecast: null,
}

test('a user without quotas gets zeros, because users belong to another system', async () => {
  for (const user of [0, 12345, Number.MAX_SAFE_INTEGER]) {
    expect(await summaryOf(user)).toEqual({ user_id: user, ...NOTHING })
  }
})

test('totals and breakdown add up over the live grants of all scopes', async () => {
  const user = 1
  await create(
    { user_id: user, limit: 100, rollover_limit: 30, period: 'month' },
    { used: 50, reserved: 20, rolled_over: 30 },
  )
  await create({ user_id: user, limit: 40, overage_limit: 10, countries: ['DE'] }, { used: 45 })
  await create({ user_id: user, limit: 5, countries: ['DE'] })
  await create({ user_id: user, limit: 7, message_types: ['otp'] }, { used: 7 })
  // None of these is live.
  await create({ user_id: user, limit: 1000, enabled: false })
  await create({ user_id: user, limit: 1000, starts_at: at(DAY_MS) })
  await create({ user_id: user, limit: 1000, starts_at: at(-2 * DAY_MS), expires_at: at(-DAY_MS) })
  const summary = await summaryOf(user)
  expect(summary).toMatchObject({
    limit: 182,
    used: 102,
    reserved: 20,
    remaining: 65,
    overage: 5,
    unlimited: false,
    by_status: { active: 3, exhausted: 1, suspended: 1, scheduled: 1, expired: 1 },
    breakdown: [
      { countries: null, message_types: null, limit: 130, used: 50, reserved: 20, remaining: 60 },
      { countries: ['DE'], message_types: null, limit: 45, used: 45, reserved: 0, remaining: 5 },
      { countries: null, message_types: ['otp'], limit: 7, used: 7, reserved: 0, remaining: 0 },
    ],
  })
  expect(summary.limit + summary.overage).toBe(summary.used + summary.reserved + summary.remaining)
  for (const name of ['limit', 'used', 'reserved', 'remaining']) {
    const rows = summary.breakdown.map((row: Record<string, number>) => row[name])
    expect(rows.reduce((sum: number, units: number) => sum + units)).toBe(summary[name])
  }
})

describe('available is what one unscoped reservation could draw', () => {
  test.each([
    ['overage counts', [[{ limit: 10, overage_limit: 5 }, { used: 12 }]], 3],
    ['scoped grants do not pay for it', [[{ limit: 10 }], [{ limit: 50, countries: ['DE'] }]], 10],
    [
      'the tightest unscoped cap bounds it',
      [[{ limit: 100 }], [{ limit: 40, kind: 'cap' }, { used: 33 }], [{ limit: 20, kind: 'cap' }]],
      7,
    ],
    ['a scoped cap does not', [[{ limit: 100 }], [{ limit: 1, kind: 'cap', message_types: ['otp'] }]], 100],
    [
      'a cap above which force has gone leaves nothing',
      [[{ limit: 100 }], [{ limit: 10, kind: 'cap' }, { used: 15 }]],
      0,
    ],
    ['an unlimited grant without a cap is unbounded', [[{ limit: null }]], null],
    ['an unlimited grant with a cap has its bound', [[{ limit: null }], [{ limit: 10, kind: 'cap' }]], 10],
    ['a cap alone gives nothing', [[{ limit: 10, kind: 'cap' }]], 0],
  ])('%s', async (what, quotas, expected) => {
    const user = 1000 + what.length
    for (const [body, counters] of quotas as [object, object?][]) await create({ user_id: user, ...body }, counters)
    expect((await summaryOf(user)).available).toBe(expected)
  })
})

test('says why nothing can be sent, until when, and for which messages that differs', async () => {
  const user = 6
  await create({ user_id: user, limit: 5_000, period: 'month' }, { used: 100 })
  const cap = await create({ user_id: user, limit: 100, kind: 'cap', period: 'day', name: 'Daily' }, { used: 100 })
  await create({ user_id: user, limit: 0, kind: 'cap', countries: ['NG'] })
  const denial = { reason: 'cap_reached', limiting_quota_id: cap, retry_at: '2026-03-16T00:00:00.000Z' }
  expect(await summaryOf(user)).toMatchObject({
    remaining: 4_900,
    available: 0,
    denial,
    // 16 days with 100 units each.
    available_until: { at: '2026-04-01T00:00:00.000Z', units: 1_600 },
    scopes: [{ countries: ['NG'], message_types: null, available: 0, denial: { ...denial, retry_at: null } }],
    caps: [
      { quota_id: cap, period: 'day', time_zone: 'UTC', countries: null, message_types: null },
      { period: null, countries: ['NG'] },
    ],
  })
  const raised = await call('PUT', `/api/sms/admin/quota/${cap}`, { body: { limit: 150 } })
  expect(raised.status).toBe(200)
  expect(await summaryOf(user)).toMatchObject({
    available: 50,
    denial: null,
    scopes: [{ countries: ['NG'], denial: { reason: 'cap_reached' } }],
  })
})

test('an unlimited grant makes the totals null', async () => {
  await create({ user_id: 2, limit: null }, { used: 3 })
  await create({ user_id: 2, limit: 10 }, { used: 4 })
  expect(await summaryOf(2)).toMatchObject({ limit: null, remaining: null, used: 7, overage: 0, unlimited: true })
})

test('the next reset and the next expiry have a time and their units', async () => {
  const user = 3
  await create({ user_id: user, limit: 100, period: 'day' }, { used: 60, reserved: 10 })
  await create({ user_id: user, limit: 50, period: 'day', rollover_limit: 20 }, { used: 25 })
  await create({ user_id: user, limit: 1000, period: 'month' }, { used: 1000 })
  await create({ user_id: user, limit: 30, expires_at: at(3 * DAY_MS) }, { used: 10 })
  await create({ user_id: user, limit: 70, expires_at: at(3 * DAY_MS) })
  await create({ user_id: user, limit: 9, kind: 'cap', period: 'hour', expires_at: at(DAY_MS / 2) })
  // The window ends when the quota expires, which is not a reset.
  await create({ user_id: user, limit: 5, period: 'hour', expires_at: at(60 * 60_000) })
  expect(await summaryOf(user)).toMatchObject({
    // The first gets 70 back; the second has 25 left now and will have 50 + 20.
    next_reset: { at: '2026-03-16T00:00:00.000Z', units: 115 },
    next_expiry: { at: at(60 * 60_000), units: 5 },
    caps: [{ limit: 9, used: 0, remaining: 9, window_end: '2026-03-15T13:00:00.000Z' }],
  })
})

test('the end of an unlimited grant is an expiry, too, without units', async () => {
  const user = 5
  await create({ user_id: user, limit: null, expires_at: at(2 * DAY_MS) })
  await create({ user_id: user, limit: 30, expires_at: at(2 * DAY_MS) })
  await create({ user_id: user, limit: 30, expires_at: at(3 * DAY_MS) })
  expect((await summaryOf(user)).next_expiry).toEqual({ at: at(2 * DAY_MS), units: null })
})

test('the summary shows the current windows', async () => {
  const user = 4
  await create({ user_id: user, limit: 100, period: 'day', rollover_limit: 250 }, { used: 60, reserved: 10 })
  const { clock } = service
  clock.now = START + 2 * DAY_MS
  // 30 unused, then a window without use.
  expect(await summaryOf(user)).toMatchObject({ limit: 230, used: 0, reserved: 0, remaining: 230 })
  clock.now = START
})
