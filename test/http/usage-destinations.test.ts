/** Usage to a destination: of all users or of one, by each group, and who sent most there. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { createUsageRollup } from '../../src/jobs/usage-rollup.ts'
import { startSender } from './sender-fixture.ts'

const ADMIN = '/api/sms/admin/quota/usage'
const OWN = '/api/sms/quota/usage'
const service = await startSender()
const { call, ask, allow, someone, clock, db } = service

interface Item {
  user_id?: number
  country?: string | null
  message_type?: string | null
  quota_id?: number | null
  committed: { units: number }
  denied: { units: number }
}
const log = { info() {}, warn() {}, error() {} }
const PERIOD = 'from=2027-05-01T00:00:00Z&to=2027-06-01T00:00:00Z'

/** What was sent: each message is of a user, to a country, of a type. */
const MESSAGES = [
  { by: 0, units: 5, country: 'NG', message_type: 'otp' },
  { by: 0, units: 7, country: 'NG' },
  { by: 0, units: 100, country: 'DE', message_type: 'otp' },
  { by: 1, units: 20, country: 'NG', message_type: 'promo' },
  { by: 2, units: 1, country: 'NG', message_type: 'otp' },
  { by: 3, units: 40, country: 'DE', message_type: 'promo' },
  { by: 3, units: 30, country: '001' },
  { by: 4, units: 9, message_type: 'otp' },
  // Denied: the user has 1,000 units.
  { by: 5, units: 5_000, country: 'NG', message_type: 'otp' },
]
type Filter = { country?: string; message_type?: string }
const FILTERS: Filter[] = [
  { country: 'NG' },
  { country: 'DE' },
  { country: '001' },
  { country: 'FR' },
  { message_type: 'otp' },
  { message_type: 'promo' },
  { message_type: 'none' },
  { country: 'NG', message_type: 'otp' },
  { country: 'DE', message_type: 'promo' },
  { country: '001', message_type: 'otp' },
]

const began = clock.now
clock.now = Date.parse('2027-05-05T05:05:05Z')
const users = Array.from({ length: 6 }, someone)
const userOf = (index: number) => users[index] ?? 0
for (const user_id of users) await allow({ user_id, limit: 1_000 })
for (const [index, { by, ...message }] of MESSAGES.entries()) {
  await ask('consume', { user_id: userOf(by), id: `m${index}`, ...message })
  // Half of it is rolled up, the other half is not.
  if (index === 4) await createUsageRollup({ db, log }).rollUpOnce()
}
clock.now = began

const isSelected =
  ({ country, message_type }: Filter) =>
  (message: Filter) =>
    (country === undefined || message.country === country) &&
    (message_type === undefined || message.message_type === message_type)
const parametersOf = (filter: Filter) => new URLSearchParams({ ...filter }).toString()

/** Units asked for by key: sent and denied. */
function expectedOf(filter: Filter, keyOf: (message: (typeof MESSAGES)[number]) => unknown, by?: number) {
  const sums = new Map<unknown, number>()
  for (const message of MESSAGES.filter(isSelected(filter))) {
    if (by !== undefined && message.by !== by) continue
    sums.set(keyOf(message), (sums.get(keyOf(message)) ?? 0) + message.units)
  }
  return sums
}
const askedOf = (items: readonly Item[], keyOf: (item: Item) => unknown) =>
  new Map(items.map(item => [keyOf(item), item.committed.units + item.denied.units]))

describe.each(FILTERS)('with %o', filter => {
  const query = `${PERIOD}&interval=month&${parametersOf(filter)}`

  test('all users are reported, by each group', async () => {
    const whole = await call('GET', `${ADMIN}?${query}`)
    expect(whole.status, JSON.stringify(whole.body)).toBe(200)
    const asked = whole.body.total.committed.units + whole.body.total.denied.units
    expect(asked).toBe(expectedOf(filter, () => 'all').get('all') ?? 0)
    const groups = [
      ['user', item => item.user_id, message => userOf(message.by)],
      ['country', item => item.country, message => message.country ?? null],
      ['message_type', item => item.message_type, message => message.message_type ?? null],
    ] as const satisfies [string, (item: Item) => unknown, (message: (typeof MESSAGES)[number]) => unknown][]
    for (const [group, keyOf, expected] of groups) {
      const { status, body } = await call('GET', `${ADMIN}?${query}&group_by=${group}`)
      expect([group, status]).toEqual([group, 200])
      expect(askedOf(body.items, keyOf)).toEqual(expectedOf(filter, expected))
      expect(body.total).toEqual(whole.body.total)
    }
    const byQuota = await call('GET', `${ADMIN}?${query}&group_by=quota`)
    expect(byQuota.body.total).toEqual(whole.body.total)
  })

  test('one user is reported, to administrators and to the user', async () => {
    for (const [by, user] of users.entries()) {
      const token = await service.userToken(user)
      const { body } = await call('GET', `${ADMIN}?${query}&user_id=${user}`)
      const asked = body.total.committed.units + body.total.denied.units
      expect(asked).toBe(expectedOf(filter, () => 'all', by).get('all') ?? 0)
      expect((await call('GET', `${OWN}?${query}`, { token })).body).toEqual(body)
    }
  })

  test('the top users are those who sent most there', async () => {
    const sent = [...expectedOf(filter, message => message.by)]
      .filter(([by]) => by !== 5)
      .map(([by, units]) => ({ user_id: userOf(Number(by)), units }))
      .toSorted((one, other) => other.units - one.units)
    const { status, body } = await call('GET', `${ADMIN}/top?${PERIOD}&${parametersOf(filter)}`)
    expect(status).toBe(200)
    expect(body.items.map((item: Item) => ({ user_id: item.user_id, units: item.committed.units }))).toEqual(sent)
    expect(body).toMatchObject({ complete: true, unlisted_up_to: 0 })
    const first = await call('GET', `${ADMIN}/top?${PERIOD}&${parametersOf(filter)}&limit=1`)
    expect(first.body).toMatchObject({ complete: true, unlisted_up_to: sent[1]?.units ?? 0 })
    expect(first.body.items).toHaveLength(Math.min(1, sent.length))
  })
})

const DAY = 'from=2026-08-01T00:00:00Z&to=2026-08-02T00:00:00Z'
describe('beside very many users', () => {
  test('few who send to one country are all found; of too many, the answer says what is missing', async () => {
    const [many, few] = [Array.from({ length: 110_000 }, (_, n) => n + 1), [200_001, 200_002, 200_003]]
    for (const [ids, country, type] of [
      [few, 'NG', 'rare'],
      [many, 'US', 'otp'],
    ] as const) {
      await db.query({
        text: sql`insert into usage select shard, id, '2026-08-01'::timestamptz, null, $3, $4, 1 + id % 7, 1, 0, 0, 0, 0
          from unnest($1::smallint[], $2::bigint[]) u (shard, id)`,
        values: [ids.map(shardOf), ids, country, type],
      })
    }
    await db.query({
      text: sql`insert into usage_total
        select 0, n, '2026-08-01'::timestamptz, (array[country, message_type])[n], sum(committed), count(*), 0, 0, 0, 0,
          null, null, null, null, null, null, 0, 0
        from usage, generate_series(1, 2) n where bucket = '2026-08-01' group by 2, 4`,
    })
    // A list of a shard, which misses others.
    const [first = 0, second = 0] = many.filter(id => id % 7 === 6)
    await db.query({
      text: sql`insert into usage_top select $1::smallint, '2026-08-01'::timestamptz, array[$2::bigint], array[7::bigint], 7
        union all select $3::smallint, '2026-08-01'::timestamptz, array[$4::bigint], array[7::bigint], 7`,
      values: [shardOf(first), first, shardOf(second), second],
    })
    for (const filter of ['country=NG', 'message_type=rare', 'country=NG&message_type=rare']) {
      const { body } = await call('GET', `${ADMIN}?${DAY}&interval=day&group_by=user&${filter}`)
      expect(body.items.map((item: Item) => item.user_id)).toEqual(few)
      const top = await call('GET', `${ADMIN}/top?${DAY}&${filter}`)
      expect(top.body.items.map((item: Item) => item.user_id)).toEqual(
        few.toSorted((one, other) => (other % 7) - (one % 7)),
      )
      expect(top.body).toMatchObject({ complete: true, unlisted_up_to: 0 })
    }
    for (const filter of ['country=US', 'country=US&message_type=otp']) {
      const { status, body } = await call('GET', `${ADMIN}?${DAY}&interval=day&group_by=user&${filter}`)
      expect([status, body.errors]).toMatchObject([400, [{ path: 'group_by' }]])
      expect(body.errors[0].message).toContain('/usage/top')
      const top = await call('GET', `${ADMIN}/top?${DAY}&${filter}&limit=2`)
      expect(top.body).toMatchObject({
        complete: true,
        unlisted_up_to: 7,
        items: [{ committed: { units: 7 } }, { committed: { units: 7 } }],
      })
      const more = await call('GET', `${ADMIN}/top?${DAY}&${filter}&limit=4`)
      expect(more.body).toMatchObject({ complete: false, unlisted_up_to: 7 })
    }
    // What reads totals does not grow with the users.
    const total = await call('GET', `${ADMIN}?${DAY}&interval=day&country=US`)
    expect(total.body.total.committed.units).toBe(many.reduce((sum, id) => sum + 1 + (id % 7), 0))
  })
})

type Bad = [what: string, url: string, paths: string[]]
const BAD: Bad[] = [
  ['a country that is none', `${ADMIN}?${DAY}&interval=day&country=XX`, ['country']],
  ['a country that is none, of the top users', `${ADMIN}/top?${DAY}&country=XX`, ['country']],
  ...['de', '1', '', 'UK', 'EU', 'DEU', 'DE,NG', '%20DE', 'DE%00', 'DE&country=NG'].map(
    (text): Bad => [`the country ${text}`, `${ADMIN}?${DAY}&interval=day&country=${text}`, ['country']],
  ),
  ...['', 'OTP', 'a%2Fb', '%C3%A4', '_a', 'x'.repeat(65), 'otp&message_type=promo'].map(
    (text): Bad => [`the message type ${text}`, `${ADMIN}/top?${DAY}&message_type=${text}`, ['message_type']],
  ),
  ['a message type with blanks', `${ADMIN}/top?${DAY}&message_type=a%20b`, ['message_type']],
  ['a country by sender', `${ADMIN}?${DAY}&interval=day&country=NG&group_by=sender`, ['group_by']],
  ['a message type by sender', `${ADMIN}?${DAY}&interval=day&message_type=otp&group_by=sender`, ['group_by']],
]
test.each(BAD)('%s is refused', async (_what, url, paths) => {
  const answer = await call('GET', url)
  expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
  expect(answer.body.errors.map((issue: { path: string }) => issue.path)).toEqual(paths)
})
