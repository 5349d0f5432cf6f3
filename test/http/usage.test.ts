import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { createRetention } from '../../src/jobs/retention.ts'
import { createUsageCompaction } from '../../src/jobs/usage-compaction.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { startSender } from './sender-fixture.ts'

const ADMIN = '/api/sms/admin/quota/usage'
const OWN = '/api/sms/quota/usage'
const service = await startSender()
const { call, ask, allow, someone, clock, db } = service

interface Item {
  committed: { units: number }
  exact: boolean
}
const zero = { units: 0, messages: 0 }
const NO_REASON = { no_quota: zero, destination_paused: zero, cap_reached: zero, quota_exhausted: zero }
const NOTHING = {
  committed: zero,
  committed_segments: 0,
  verified_messages: 0,
  refunded: zero,
  unfunded: zero,
  denied: zero,
  denied_by_reason: NO_REASON,
}
const log = { info() {}, warn() {}, error() {} }
const MARCH = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z'

async function rollUpAll(): Promise<void> {
  const rollup = createUsageRollup({ db, log })
  while ((await rollup.rollUpOnce()).batches > 0);
}

/** A user with three sends around midnight in Kolkata and Berlin. */
async function sent(): Promise<{ user: number; quotaId: number }> {
  const user = someone()
  const quotaId = await allow({ user_id: user, limit: 100, starts_at: '2026-03-01T00:00:00Z' })
  const began = clock.now
  clock.now = Date.parse('2026-03-20T18:29:59.999Z')
  await ask('consume', { user_id: user, id: 'one', units: 1, country: 'IN', message_type: 'otp' })
  clock.now = Date.parse('2026-03-20T18:30:00.000Z')
  await ask('consume', { user_id: user, id: 'two', units: 10, country: 'DE' })
  clock.now = Date.parse('2026-03-20T23:10:00.000Z')
  await ask('refund', { user_id: user, id: 'two', total_units: 4 })
  await ask('feedback', { user_id: user, id: 'one', verified: true })
  await ask('consume', { user_id: user, id: 'three', units: 100, country: 'DE' })
  clock.now = began
  return { user, quotaId }
}

test('rows have no gaps and add up to the total', async () => {
  const { user } = await sent()
  const { status, body } = await call('GET', `${ADMIN}?user_id=${user}&${MARCH}&interval=day`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ from: '2026-03-01T00:00:00.000Z', interval: 'day', time_zone: 'UTC' })
  expect(body.items).toHaveLength(31)
  expect(body.items[0]).toEqual({
    start: '2026-03-01T00:00:00.000Z',
    end: '2026-03-02T00:00:00.000Z',
    exact: true,
    ...NOTHING,
  })
  const row = {
    committed: { units: 11, messages: 2 },
    committed_segments: 0,
    verified_messages: 1,
    refunded: { units: 4, messages: 1 },
    unfunded: zero,
    denied: { units: 100, messages: 1 },
    denied_by_reason: { ...NO_REASON, quota_exhausted: { units: 100, messages: 1 } },
  }
  const day = { start: '2026-03-20T00:00:00.000Z', end: '2026-03-21T00:00:00.000Z', exact: true }
  expect(body.items[19]).toEqual({ ...day, ...row })
  expect(body.total).toEqual(row)
})

test('a commit says how many messages it pays, with its first units', async () => {
  const user = someone()
  await allow({ user_id: user, limit: 100, starts_at: '2026-03-01T00:00:00Z' })
  await ask('reserve', { user_id: user, id: 'slice', units: 50 })
  await ask('reserve', { user_id: user, id: 'rest', units: 5 })
  const settle = (id: string, total_units: number, messages: number) =>
    ask('commit', { user_id: user, id, total_units, messages })
  expect((await settle('slice', 30, 12)).status).toBe(200)
  expect((await settle('slice', 30, 12)).body).toMatchObject({ replayed: true })
  expect((await settle('slice', 40, 3)).status).toBe(200)
  // The last units of a message that was counted before.
  expect((await settle('rest', 5, 0)).status).toBe(200)
  const { body } = await call('GET', `${ADMIN}?user_id=${user}&${MARCH}&interval=month`)
  expect(body.total).toMatchObject({ committed: { units: 45, messages: 12 } })
  expect((await settle('rest', 5, 1_000_001)).body).toMatchObject({ errors: [{ path: '/messages' }] })
})

test.each([
  ['Asia/Kolkata', '2026-03-20T18:30:00.000Z', [1, 10]],
  ['Asia/Kathmandu', '2026-03-20T18:15:00.000Z', [0, 11]],
  ['Europe/Berlin', '2026-03-20T23:00:00.000Z', [11, 0]],
])('days are those of %s', async (zone, midnight, committed) => {
  const { user } = await sent()
  const period = 'from=2026-03-20T12:00:00Z&to=2026-03-21T12:00:00Z'
  const { body } = await call('GET', `${ADMIN}?user_id=${user}&${period}&interval=day&time_zone=${zone}`)
  expect(body.items.map((row: { start: string }) => row.start)).toEqual(['2026-03-20T12:00:00.000Z', midnight])
  expect(body.items.map((row: typeof NOTHING) => row.committed.units)).toEqual(committed)
})

test('the period includes its start and excludes its end', async () => {
  const { user } = await sent()
  const unitsIn = async (period: string) => {
    const { body } = await call('GET', `${ADMIN}?user_id=${user}&${period}&interval=hour`)
    return body.total.committed.units
  }
  expect(await unitsIn('from=2026-03-20T18:15:00Z&to=2026-03-20T18:30:00Z')).toBe(1)
  expect(await unitsIn('from=2026-03-20T18:30:00Z&to=2026-03-20T18:45:00Z')).toBe(10)
  expect(await unitsIn('from=2026-03-20T18:45:00Z&to=2026-03-20T19:00:00Z')).toBe(0)
})

test('a period that is not on quarters of an hour is rounded outward, and the answer says what was read', async () => {
  const { user } = await sent()
  const read = async (from: string, to: string, of = 'usage') =>
    (
      await call(
        'GET',
        `/api/sms/admin/quota/${of}?from=${from}&to=${to}${of === 'usage' ? `&user_id=${user}&interval=hour` : ''}`,
      )
    ).body
  const quarter = { from: '2026-03-20T18:15:00.000Z', to: '2026-03-20T18:45:00.000Z' }
  for (const report of ['usage', 'usage/top']) {
    expect(await read('2026-03-20T18:29:59.999Z', '2026-03-20T18:30:00.001Z', report)).toMatchObject({
      ...quarter,
      rounded: true,
    })
    expect(await read(quarter.from, quarter.to, report)).toMatchObject({ ...quarter, rounded: false })
  }
  const { items, total } = await read('2026-03-20T18:29:59.999Z', '2026-03-20T18:30:00.001Z')
  expect(total.committed.units).toBe(11)
  expect([items[0].start, items.at(-1).end]).toEqual([quarter.from, quarter.to])
  // Rounded up, the last timestamp would need a year of five digits.
  const last = { from: '9999-12-31T23:30:00.000Z', to: '9999-12-31T23:45:00.000Z' }
  expect(await read('9999-12-31T23:59:59.998Z', '9999-12-31T23:59:59.999Z')).toMatchObject({ ...last, rounded: true })
  expect((await call('GET', `${ADMIN}/top?from=2025-01-01T00:00:01Z&to=2026-01-02T00:00:01Z`)).status).toBe(200)
})

test('days of 23 hours, repeated hours and months of any length are exact', async () => {
  const user = someone()
  const itemsOf = async (query: string) =>
    (await call('GET', `${ADMIN}?user_id=${user}&${query}`)).body.items.map((row: { start: string }) => row.start)
  const berlin = 'time_zone=Europe/Berlin'
  expect(await itemsOf(`from=2026-03-28T23:00:00Z&to=2026-03-29T22:00:00Z&interval=hour&${berlin}`)).toHaveLength(23)
  expect(await itemsOf(`from=2026-10-24T22:00:00Z&to=2026-10-25T23:00:00Z&interval=hour&${berlin}`)).toHaveLength(25)
  expect(await itemsOf(`from=2026-01-15T00:00:00Z&to=2026-03-02T00:00:00Z&interval=month&${berlin}`)).toEqual([
    '2026-01-15T00:00:00.000Z',
    '2026-01-31T23:00:00.000Z',
    '2026-02-28T23:00:00.000Z',
  ])
})

test('with group_by, every interval has a row for each value of the period', async () => {
  const { user, quotaId } = await sent()
  const grouped = async (by: string) => {
    const { body } = await call('GET', `${ADMIN}?user_id=${user}&${MARCH}&interval=month&group_by=${by}`)
    return body.items
  }
  expect(await grouped('country')).toMatchObject([
    { country: 'DE', committed: { units: 10, messages: 1 }, denied: { units: 100 } },
    { country: 'IN', committed: { units: 1, messages: 1 }, verified_messages: 1 },
  ])
  expect(await grouped('message_type')).toMatchObject([
    { message_type: 'otp', committed: { units: 1 }, verified_messages: 1 },
    { message_type: null, committed: { units: 10 } },
  ])
  expect(await grouped('quota')).toMatchObject([
    { quota_id: quotaId, committed: { units: 11 }, verified_messages: 1, denied: zero },
    { quota_id: null, committed: zero, denied: { units: 100 } },
  ])
  expect(await grouped('user')).toMatchObject([{ user_id: user, committed: { units: 11 } }])
  const { body } = await call('GET', `${ADMIN}?user_id=${user}&${MARCH}&interval=day&group_by=country`)
  expect(body.items).toHaveLength(62)
})

test("a user's own report equals the administrator's report of that user", async () => {
  const { user } = await sent()
  const token = await service.userToken(user)
  const own = await call('GET', `${OWN}?${MARCH}&interval=day&group_by=quota`, { token })
  expect(own.status).toBe(200)
  const asAdmin = await call('GET', `${ADMIN}?user_id=${user}&${MARCH}&interval=day&group_by=quota`)
  expect(own.body).toEqual(asAdmin.body)
  const unused = await call('GET', `${OWN}?${MARCH}&interval=month`, { token: await service.userToken(someone()) })
  expect(unused.body.total).toEqual(NOTHING)
})

test('administrators see all users together, and the top users', async () => {
  const period = 'from=2027-05-01T00:00:00Z&to=2027-06-01T00:00:00Z'
  const began = clock.now
  clock.now = Date.parse('2027-05-05T05:05:05Z')
  const users = [someone(), someone(), someone()]
  for (const [index, user] of users.entries()) {
    await allow({ user_id: user, limit: 100 })
    await ask('consume', { user_id: user, id: 'm', units: [5, 20, 5][index] })
  }
  // A part is rolled up, the rest is not.
  await createUsageRollup({ db, log }).rollUpOnce()
  await ask('consume', { user_id: users[2], id: 'n', units: 1 })
  clock.now = began
  const all = await call('GET', `${ADMIN}?${period}&interval=month`)
  expect(all.body.total.committed).toEqual({ units: 31, messages: 4 })
  const top = await call('GET', `${ADMIN}/top?${period}`)
  expect(top.status).toBe(200)
  expect(top.body.items.map((item: { user_id: number }) => item.user_id)).toEqual([users[1], users[2], users[0]])
  expect(top.body.items[1]).toEqual({ user_id: users[2], ...NOTHING, committed: { units: 6, messages: 2 } })
  expect((await call('GET', `${ADMIN}/top?${period}&limit=1`)).body.items).toHaveLength(1)
  const all_of = ['user', 'quota', 'country', 'message_type', null].map(group =>
    group === null ? '' : `&group_by=${group}`,
  )
  for (const group of all_of) {
    const { body } = await call('GET', `${ADMIN}?${period}&interval=month${group}`)
    expect(body.total).toEqual(all.body.total)
    expect(body.items).toHaveLength(group === '&group_by=user' || group === '&group_by=quota' ? 3 : 1)
  }
  expect(top.body).toMatchObject({ exact: true, complete: true, unlisted_up_to: 0 })
  expect((await call('GET', `${ADMIN}/top?${period}&limit=1`)).body).toMatchObject({
    complete: true,
    unlisted_up_to: 6,
  })
})

describe('by sender', () => {
  const period = 'from=2027-07-01T00:00:00Z&to=2027-08-01T00:00:00Z&interval=month'
  const bySender = `${ADMIN}?${period}&group_by=sender`
  const itemsOf = async () => (await call('GET', bySender)).body.items as (Item & { sender: string | null })[]

  test('all users are reported, rolled up or not, and what no sender did is that of null', async () => {
    const [user, began] = [someone(), clock.now]
    clock.now = Date.parse('2027-07-05T05:05:05Z')
    await allow({ user_id: user, limit: 100 })
    const campaigns = await service.token({ sub: 'campaigns "A"', roles: ['sms-quota:sender'] })
    const askFor = (op: string, body: object) => call('POST', `/api/sms/sender/quota/${op}`, { token: campaigns, body })
    await askFor('reserve', { user_id: user, id: 'reserved', units: 7 })
    await ask('commit', { user_id: user, id: 'reserved', total_units: 4 })
    await askFor('consume', { user_id: user, id: 'one', units: 20 })
    await ask('feedback', { user_id: user, id: 'one', verified: true })
    await ask('refund', { user_id: user, id: 'one', total_units: 5 })
    await askFor('consume', { user_id: user, id: 'denied', units: 1_000 })
    await ask('consume', { user_id: someone(), id: 'forced', units: 3, force: true })
    const expiring = { user_id: user, id: 'expiring', units: 2, ttl_seconds: 10, on_expiry: 'commit' }
    await askFor('reserve', expiring)
    clock.now += 20_000
    await ask('commit', { user_id: user, id: 'expiring', total_units: 2 })
    const expected = [
      {
        ...{ sender: 'campaigns "A"', ...NOTHING, committed: { units: 20, messages: 1 } },
        denied: { units: 1_000, messages: 1 },
        denied_by_reason: { ...NO_REASON, quota_exhausted: { units: 1_000, messages: 1 } },
      },
      {
        ...{ sender: 'gateway', ...NOTHING, committed: { units: 7, messages: 2 } },
        ...{ verified_messages: 1, refunded: { units: 5, messages: 1 }, unfunded: { units: 3, messages: 1 } },
      },
      { sender: null, ...NOTHING, committed: { units: 2, messages: 1 } },
    ]
    const start = { start: '2027-07-01T00:00:00.000Z', end: '2027-08-01T00:00:00.000Z', exact: true }
    for (const isRolledUp of [false, true]) {
      if (isRolledUp) await rollUpAll()
      expect(await itemsOf()).toEqual(expected.map(item => ({ ...start, ...item })))
      const { total } = (await call('GET', `${ADMIN}?${period}`)).body
      expect((await call('GET', bySender)).body.total).toEqual(total)
    }
    const senders = sql`select distinct key from usage_total where dimension = 3 and bucket >= '2027-07-01'`
    expect(await db.query({ text: senders })).toHaveLength(2)
    // Rows of users are not by sender: one for the sends of both that had a grant, and one for the denial.
    const rows = await db.query({
      text: sql`select quota_id from usage where user_id = $1 and bucket >= '2027-07-01'`,
      values: [user],
    })
    expect(rows).toHaveLength(2)

    // What an earlier version writes, and what it rolls up.
    await ask('consume', { user_id: user, id: 'two', units: 6 })
    await db.query({ text: sql`update usage_pending set senders = null` })
    await rollUpAll()
    const [, , rest] = await itemsOf()
    expect(rest).toMatchObject({ sender: null, committed: { units: 8, messages: 2 } })
    clock.now = began
  })

  test('an interval without usage has a row of zeros for each sender of the period', async () => {
    const { body } = await call('GET', bySender.replace('interval=month', 'interval=week'))
    const first = body.items.slice(0, 3).map((item: Item & { sender: string | null }) => item.sender)
    expect(first).toEqual(['campaigns "A"', 'gateway', null])
    expect(body.items.at(-1)).toMatchObject({ sender: null, ...NOTHING })
    const empty = await call(
      'GET',
      `${ADMIN}?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&interval=day&group_by=sender`,
    )
    expect(empty.body).toMatchObject({ total: NOTHING, items: [] })
  })

  test('one user is not: the answer says what is', async () => {
    const withUser = await call('GET', `${bySender}&user_id=7`)
    expect([withUser.status, withUser.body.errors]).toEqual([
      400,
      [
        {
          path: 'group_by',
          message:
            'is of all users and messages together: leave out user_id, country and message_type, or give user, quota, country, message_type',
        },
      ],
    ])
    const own = await call('GET', `${OWN}?${period}&group_by=sender`, { token: await service.userToken(7) })
    expect([own.status, own.body.errors]).toEqual([
      400,
      [{ path: 'group_by', message: expect.stringContaining('country') }],
    ])
  })
})

test('denials are reported by reason, and those without a reason in the sum only', async () => {
  const user = someone()
  const began = clock.now
  clock.now = Date.parse('2026-03-20T12:00:00Z')
  await ask('consume', { user_id: user, id: 'a', units: 1 })
  await allow({ user_id: user, limit: 10 })
  await ask('consume', { user_id: user, id: 'b', units: 20 })
  await ask('consume', { user_id: user, id: 'c', units: 30 })
  await allow({ user_id: user, kind: 'cap', limit: 3 })
  await ask('reserve', { user_id: user, id: 'd', units: 4 })
  clock.now = began
  // A denial of an earlier version.
  await db.query({
    text: sql`insert into usage_pending values ($1, nextval('usage_number'), '2026-03-20', array[$2::bigint], '{null}', '{null}', '{null}', '{2}', '{7}', '{1}')`,
    values: [shardOf(user), user],
  })
  for (const isRolledUp of [false, true]) {
    if (isRolledUp) await createUsageRollup({ db, log }).rollUpOnce()
    const query = 'from=2026-03-20T00:00:00Z&to=2026-03-20T12:15:00Z&interval=day'
    const { body } = await call('GET', `${ADMIN}?user_id=${user}&${query}`)
    expect(body.total.denied).toEqual({ units: 62, messages: 5 })
    expect(body.total.denied_by_reason).toEqual({
      ...NO_REASON,
      no_quota: { units: 1, messages: 1 },
      quota_exhausted: { units: 50, messages: 2 },
      cap_reached: { units: 4, messages: 1 },
    })
  }
})

test('intervals that cut a compacted day are marked as approximate', async () => {
  const user = someone()
  const now = Date.parse('2028-03-20T12:00:00Z')
  await db.query({
    text: sql`insert into usage select $1::smallint, $2::bigint, b, null, null, null, 1, 1, 0, 0, 0, 0
      from unnest('{2028-01-10T22:00Z,2028-01-10T23:30Z,2028-03-19T22:00Z,2028-03-19T23:30Z}'::timestamptz[]) b`,
    values: [shardOf(user), user],
  })
  const compaction = createUsageCompaction({ db, log, now: () => now, timeZone: 'Europe/Berlin' })
  while ((await compaction.compactOnce(now)).isBehind);
  const report = async (from: string, to: string, interval: string, zone: string) => {
    const query = `user_id=${user}&from=${from}T00:00:00Z&to=${to}T00:00:00Z&interval=${interval}&time_zone=${zone}`
    const { body } = await call('GET', `${ADMIN}?${query}`)
    return [body.exact, ...body.items.map((item: Item) => [item.committed.units, item.exact])]
  }
  const berlin = 'user_id=%&from=2028-01-09T23:00:00Z&to=2028-01-11T23:00:00Z&interval=day&time_zone=Europe/Berlin'
  const { body } = await call('GET', `${ADMIN}?${berlin.replace('%', String(user))}`)
  expect(body).toMatchObject({
    exact: true,
    items: [
      { committed: { units: 1 }, exact: true },
      { committed: { units: 1 }, exact: true },
    ],
  })
  // Days of UTC: each compacted day of Berlin counts where it begins, an hour earlier.
  expect(await report('2028-01-09', '2028-01-12', 'day', 'UTC')).toEqual([true, [1, false], [1, false], [0, false]])
  expect(await report('2028-01-10', '2028-01-11', 'day', 'UTC')).toEqual([false, [1, false]])
  expect(await report('2028-01-01', '2028-02-01', 'month', 'UTC')).toEqual([true, [2, true]])
  expect(await report('2028-03-19', '2028-03-21', 'day', 'UTC')).toEqual([true, [2, true], [0, true]])
})

test('usage that retention has rolled up stays in reports', async () => {
  const { user } = await sent()
  const url = `${ADMIN}?user_id=${user}&${MARCH}&interval=day`
  const before = await call('GET', url)
  const retention = createRetention({ db, now: () => clock.now, retentionMs: 0 })
  while ((await retention.removeOnce(Date.parse('2026-04-30T00:00:00Z'))).isBehind);
  expect(
    (await call('GET', `/api/sms/sender/quota/reservations/${user}/one`, { token: service.senderToken })).status,
  ).toBe(404)
  expect((await call('GET', url)).body).toEqual(before.body)
})

const DAILY = `${MARCH}&interval=day`
// biome-ignore format: one case per line.
const BAD: [what: string, url: string, paths: string[]][] = [
  ['missing parameters', `${ADMIN}`, ['from', 'to', 'interval']],
  ['an unknown interval', `${ADMIN}?${MARCH}&interval=year`, ['interval']],
  ['an offset instead of a zone', `${ADMIN}?${DAILY}&time_zone=%2B02:00`, ['time_zone']],
  ['an end before the start', `${ADMIN}?from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z&interval=day`, ['to']],
  ['an end before the start within a quarter of an hour', `${ADMIN}?from=2026-03-01T00:07:00Z&to=2026-03-01T00:06:00Z&interval=day`, ['to']],
  ['too many intervals', `${ADMIN}?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z&interval=hour`, ['interval']],
  ['an unknown group', `${ADMIN}?${DAILY}&group_by=price`, ['group_by']],
  ['user_id, from a user', `${OWN}?${DAILY}&user_id=8`, ['user_id']],
  ['group_by=user, from a user', `${OWN}?${DAILY}&group_by=user`, ['group_by']],
  ['a period that is too long for the top users', `${ADMIN}/top?from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z`, ['to']],
  ['too many users', `${ADMIN}/top?${MARCH}&limit=101`, ['limit']],
]
describe('is refused', () => {
  test.each(BAD)('%s', async (_what, url, paths) => {
    const answer = await call('GET', url)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
    expect(answer.body.errors.map((issue: { path: string }) => issue.path).sort()).toEqual(paths.sort())
  })

  test('reports with too many rows', async () => {
    const user = someone()
    await db.query({
      text: sql`insert into usage select $1::smallint, $2::bigint, '2026-03-01', n, null, null, 1, 1, 0, 0, 0, 0
        from generate_series(1, 400) n`,
      values: [shardOf(user), user],
    })
    const { status, body } = await call('GET', `${ADMIN}?user_id=${user}&${DAILY}&group_by=quota`)
    expect([status, body.errors]).toMatchObject([400, [{ path: 'group_by' }]])
    expect((await call('GET', `${ADMIN}?user_id=${user}&${MARCH}&interval=month&group_by=quota`)).status).toBe(200)
  })

  test('reports of all users by user or quota that read too many rows', async () => {
    await db.query({
      text: sql`insert into usage select n % 64, n, '2026-08-01'::timestamptz, null, null, null, 1, 1, 0, 0, 0, 0
        from generate_series(1, 100001) n`,
    })
    const query = 'from=2026-08-01T00:00:00Z&to=2026-08-02T00:00:00Z&interval=day'
    for (const group of ['user', 'quota']) {
      const { status, body } = await call('GET', `${ADMIN}?${query}&group_by=${group}`)
      expect([status, body.errors]).toMatchObject([400, [{ path: 'group_by' }]])
      expect(body.errors[0].message).toContain('name a user_id')
      expect((await call('GET', `${ADMIN}?user_id=7&${query}&group_by=${group}`)).status).toBe(200)
    }
  })
})

test('the summary forecasts when the remaining units run out, after a week of use', async () => {
  const user = someone()
  const began = clock.now
  await allow({ user_id: user, limit: 1000 })
  const forecast = async () => (await call('GET', `/api/sms/admin/quota/summary?user_id=${user}`)).body.forecast
  for (let day = 0; day < 14; day++) {
    clock.now = began + day * DAY_MS
    await ask('consume', { user_id: user, id: `m${day}`, units: 10 })
    expect(await forecast()).toEqual(day < 7 ? null : expect.objectContaining({ daily_rate: 10 }))
  }
  clock.now = began + 14 * DAY_MS - 1
  const body = await forecast()
  expect(body.daily_rate).toBe(10)
  expect(Date.parse(body.runs_out_at)).toBe(clock.now + 86 * DAY_MS)
  clock.now = began
})
