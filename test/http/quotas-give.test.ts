/** More units for many users through the API: what becomes of each user, and what a repeated call does. */
import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'
import { type Answer, type Service, START, startService } from '../support/service.ts'
import { rawSql } from '../support/sql.ts'

const service = await startService()
const URL = '/api/sms/admin/quota/give'

interface GiveCall {
  key?: string
  dryRun?: boolean
  of?: Service
}

let lastKey = 0
const newKey = () => `key-${++lastKey}`
const TERMS = { units: 500, period: 'month', reason: 'Outage' }

function ask(body: object, { key = newKey(), dryRun = false, of = service }: GiveCall = {}) {
  return of.call('POST', `${URL}${dryRun ? '?dry_run=true' : ''}`, { body, headers: { 'idempotency-key': key } })
}

async function give(userIds: readonly number[], terms: object = {}, call: GiveCall = {}) {
  const users = userIds.map(user_id => ({ user_id }))
  const answer = await ask({ users, ...TERMS, ...terms }, call)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return recordsOf(answer)
}

function recordsOf({ body }: Answer) {
  return String(body)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ record }) => record !== 'progress')
}

const end = (given: number, { before = 0, left = 0, failed = 0 } = {}) => ({
  record: 'end',
  given,
  given_before: before,
  left_out: left,
  failed,
})
const begin = { record: 'begin', bulk_id: expect.stringMatching(/^bulk-[0-9a-f-]{36}$/) }

let lastUser = 1_000
const someone = () => ++lastUser

const MONTHLY = { limit: 1_000, period: 'month', name: 'Bundle', time_zone: 'Europe/Berlin' }
const MONTH_END = '2026-03-31T22:00:00.000Z'

async function create(userId: number, more: object = MONTHLY): Promise<number> {
  const answer = await service.call('POST', '/api/sms/admin/quota', { body: { user_id: userId, ...more } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body.id
}

async function listOf(userId: number) {
  const { body } = await service.call('GET', `/api/sms/admin/quota/list?user_id=${userId}&sort=id`)
  return body.items
}
const limitsOf = async (userId: number) => (await listOf(userId)).map(({ limit }: { limit: number }) => limit)

/** Users with a monthly grant each, by an import. */
async function createMany(count: number): Promise<number[]> {
  const users = Array.from({ length: count }, someone)
  const rows = users.map(user_id => JSON.stringify({ user_id, external_ref: 'M', ...MONTHLY }))
  const headers = { 'content-type': 'application/x-ndjson' }
  const { body } = await service.call('POST', '/api/sms/admin/quota/import', { body: rows.join('\n'), headers })
  expect(body).toContain(`"created":${count}`)
  return users
}

test('each user gets a line: what is given and until when, or why nothing is', async () => {
  const [monthly, pack, none, block, suspended] = [someone(), someone(), someone(), someone(), someone()]
  const id = await create(monthly, { ...MONTHLY, message_types: ['otp'], priority: 5 })
  const packId = await create(pack, { limit: 300, name: 'Pack' })
  await create(block, { limit: 0, kind: 'cap' })
  await create(suspended, { ...MONTHLY, enabled: false })
  const users = [none, monthly, pack, block, suspended]
  const expected = [
    { record: 'left_out', user_id: none, reason: 'no_quota', quota: null, offer: null },
    {
      record: 'given',
      user_id: monthly,
      gift: {
        quota: { id, user_id: monthly, name: 'Bundle', limit: 1_000, period: 'month', status: 'active' },
        units: 500,
        until: MONTH_END,
        time_zone: 'Europe/Berlin',
        month_end: false,
        reference: expect.stringMatching(new RegExp(`^top-up-${id}-`)),
        earlier: [],
        notes: [],
        usable: null,
      },
    },
    {
      record: 'left_out',
      user_id: pack,
      reason: 'only_one_time',
      quota: { id: packId, name: 'Pack' },
      offer: { quota: { id: packId }, until: MONTH_END, time_zone: 'Europe/Berlin', month_end: true },
    },
    { record: 'left_out', user_id: block, reason: 'only_caps' },
    { record: 'left_out', user_id: suspended, reason: 'not_live', quota: { status: 'suspended' } },
  ]
  expect(await give(users, {}, { dryRun: true })).toMatchObject([...expected, end(1, { left: 4 })])
  expect(await limitsOf(monthly)).toEqual([1_000])
  const records = await give(users)
  expect(records).toMatchObject([begin, ...expected, end(1, { left: 4 })])
  const [, extra] = await listOf(monthly)
  expect(extra).toMatchObject({
    kind: 'grant',
    limit: 500,
    period: null,
    name: 'Extra units for Bundle',
    priority: 5,
    message_types: ['otp'],
    expires_at: MONTH_END,
    external_ref: records[2].gift.reference,
    metadata: { extends_quota: String(id), reason: 'Outage' },
  })
  const audit = await service.call('GET', `/api/sms/admin/audit?request_id=${records[0].bulk_id}`)
  expect(audit.body.items).toMatchObject([{ action: 'created', thing_id: extra.id, after: { limit: 500 } }])
  const text = sql`select type from event where data -> 'quota' ->> 'id' = $1`
  expect(await service.db.query({ text, values: [String(extra.id)] })).toEqual([{ type: 'quota.created' }])
  expect((await service.call('GET', `/api/sms/admin/quota/list?user_id=${none}`)).body.total).toBe(0)
  expect((await verify(service.db)).differences).toEqual([])
})

test('units for good raise the limit, each user by its own number, and the history has the reason', async () => {
  const [one, two] = [someone(), someone()]
  const id = await create(one)
  await create(two)
  const users = [{ user_id: two, units: 7 }, { user_id: one }]
  const records = recordsOf(await ask({ users, ...TERMS, until: 'for_good' }))
  const given = { record: 'given', gift: { units: 500, until: null, reference: null } }
  expect(records).toMatchObject([begin, { gift: { units: 7 } }, given, end(2)])
  expect(await Promise.all([one, two].map(limitsOf))).toEqual([[1_500], [1_007]])
  const { body } = await service.call('GET', `/api/sms/admin/quota/${id}/history`)
  expect(body.items[0]).toMatchObject({ action: 'updated', reason: 'Outage', request_id: records[0].bulk_id })
})

test.each([{}, { until: 'for_good' }])('a lost answer: the same key gives nothing twice, %o', async terms => {
  const [one, two] = [someone(), someone()]
  const id = await create(one)
  const key = newKey()
  const [first, , left] = await give([one, two], terms, { key })
  expect(left).toMatchObject({ user_id: two, reason: 'no_quota' })
  await create(two)
  // Also if what was given is gone, and the grant that pays first is another one.
  const [, extra] = await listOf(one)
  const given = { record: 'given_before', user_id: one, quota_id: id, units: 500 }
  await service.call('DELETE', `/api/sms/admin/quota/${extra === undefined ? id : extra.id}`)
  await create(one, { ...MONTHLY, priority: 0 })
  const again = await give([one, two], terms, { key })
  expect(again).toMatchObject([first, given, { record: 'given', user_id: two }, end(1, { before: 1 })])
  expect(await give([one, two], terms, { key })).toMatchObject([first, given, { units: 500 }, end(0, { before: 2 })])
  expect(await limitsOf(one)).toEqual(extra === undefined ? [1_000] : [1_000, 1_000])

  const body = { users: [{ user_id: one }, { user_id: two }], ...TERMS, ...terms }
  const mismatch = { status: 409, body: { code: 'idempotency_mismatch' } }
  expect(await ask({ ...body, units: 400 }, { key })).toMatchObject(mismatch)
  expect(await ask({ ...body, reason: 'Other' }, { key })).toMatchObject({
    ...mismatch,
    body: { errors: [{ path: '/reason' }] },
  })
  const ofBulk = await service.call('POST', '/api/sms/admin/quota/bulk', {
    body: { select: { ids: [id] }, change: { action: 'suspend' } },
    headers: { 'idempotency-key': key },
  })
  expect(ofBulk).toMatchObject(mismatch)
})

test('a key is good for one window also if the next one has begun', async () => {
  const user = someone()
  await create(user, { ...MONTHLY, period: 'hour' })
  const key = newKey()
  const hour = { period: 'hour' }
  expect((await give([user], hour, { key })).at(-1)).toEqual(end(1))
  service.clock.now += 2 * 3_600_000
  expect((await give([user], hour, { key })).at(-1)).toEqual(end(0, { before: 1 }))
  expect((await give([user], hour)).at(-1)).toEqual(end(1))
  service.clock.now += 86_400_000
  expect(await ask({ users: [{ user_id: user }], ...TERMS, ...hour }, { key })).toMatchObject({ status: 409 })
  service.clock.now = START
})

test('with another key the same gift is given once, and another one only if asked', async () => {
  const user = someone()
  const id = await create(user)
  await give([user])
  expect((await give([user]))[1]).toMatchObject({ record: 'left_out', reason: 'had_before', quota: { limit: 500 } })
  const excuse = { reason: 'Excuse' }
  expect((await give([user], excuse))[1]).toMatchObject({
    record: 'left_out',
    reason: 'got_others',
    quota: { metadata: { extends_quota: String(id), reason: 'Outage' } },
  })
  const [, again] = await give([user], { ...excuse, again: true, name: 'Mehr für' })
  expect(again).toMatchObject({ record: 'given', gift: { earlier: [{ limit: 500 }] } })
  expect((await listOf(user)).at(-1).name).toBe('Mehr für Bundle')
})

test('one-time grants: until the month ends where most grants of the users begin anew, or with the grant', async () => {
  const [pack, tokyo] = [someone(), someone()]
  await create(pack, { limit: 300, expires_at: '2027-01-10T00:00:00Z' })
  await create(tokyo, { ...MONTHLY, time_zone: 'Asia/Tokyo' })
  const once = { period: null }
  const dry = { dryRun: true }
  const month = { ...once, until: 'month_end' }
  expect((await give([pack, tokyo], month, dry))[0].gift).toMatchObject({ time_zone: 'Asia/Tokyo', month_end: true })
  const inUtc = { until: '2026-04-01T00:00:00.000Z', time_zone: 'UTC' }
  expect((await give([pack], month, dry))[0].gift).toMatchObject(inUtc)
  const inBerlin = { ...month, time_zone: 'europe/berlin' }
  expect((await give([pack], inBerlin, dry))[0].gift).toMatchObject({ until: MONTH_END, time_zone: 'Europe/Berlin' })
  expect((await give([pack], once, dry))[0].gift).toMatchObject({ until: '2027-01-10T00:00:00.000Z' })
  const expired = { starts_at: '2026-01-01T00:00:00Z', expires_at: '2026-02-01T00:00:00Z' }
  const ended = someone()
  await create(ended, { ...MONTHLY, ...expired })
  expect((await give([ended], {}, dry))[0]).toMatchObject({ reason: 'not_live', quota: { status: 'expired' } })
})

test('caps in the way are named', async () => {
  const user = someone()
  await create(user)
  await create(user, { limit: 20, kind: 'cap', period: 'day', opening_used: 20 })
  const [{ gift }] = await give([user], {}, { dryRun: true })
  const note = { note: 'cap', cap: { limit: 20, period: 'day' }, reached: true, ending: 1_000, usable: 0 }
  expect(gift).toMatchObject({ usable: 0, notes: [note] })
})

test('a user who is refused does not affect the others', async () => {
  const [full, rich, fine] = [someone(), someone(), someone()]
  await create(full)
  const rows = Array.from({ length: 199 }, (_, n) =>
    JSON.stringify({ user_id: full, external_ref: `F-${n}`, limit: 1, kind: 'cap' }),
  )
  const headers = { 'content-type': 'application/x-ndjson' }
  await service.call('POST', '/api/sms/admin/quota/import', { body: rows.join('\n'), headers })
  await create(fine)
  expect(await give([full, fine])).toMatchObject([
    begin,
    { record: 'failed', user_id: full, code: 'too_many_quotas', detail: expect.stringContaining('200') },
    { record: 'given', user_id: fine },
    end(1, { failed: 1 }),
  ])
  await create(rich, { ...MONTHLY, limit: 1_000_000_000_000 })
  expect((await give([rich], { until: 'for_good' }))[1]).toMatchObject({ record: 'failed', code: 'invalid_request' })
})

test('calls with the same key, and with others, at the same time give each user once', async () => {
  const beside = await startService({ env: { DATABASE_URL: service.databaseUrl } })
  beside.clock.now = service.clock.now
  const users = await createMany(120)
  const key = newKey()
  const calls = [service, beside, service, beside].map((of, n) => give(users, {}, { of, key: n < 3 ? key : newKey() }))
  const ends = (await Promise.all(calls)).map(records => records.at(-1))
  expect(ends.reduce((sum, { given }) => sum + given, 0)).toBe(120)
  expect(ends.every(({ failed }) => failed === 0)).toBe(true)
  const raise = { until: 'for_good' }
  const raises = [service, beside].map(of => give(users.slice(0, 60), raise, { of, key: 'raise' }))
  const raised = (await Promise.all(raises)).map(records => records.at(-1).given)
  expect(raised.reduce((sum, count) => sum + count)).toBe(60)
  expect(await limitsOf(users[0] ?? 0)).toEqual([1_500, 500])
  expect((await verify(service.db)).differences).toEqual([])
})

test.each([
  ['an hour', HOUR_MS],
  ['a month', 30 * DAY_MS],
])('a call that began by a clock that was %s ahead gives each user once', async (_title, aheadMs) => {
  const user = someone()
  await create(user)
  const [key, raise] = [newKey(), { until: 'for_good' }]
  const alter = (change: ReturnType<typeof sql>) => service.db.query({ text: sql`alter table quota ${change}` })
  await alter(sql`add constraint no_gift check ("limit" = 1000 or user_id <> ${rawSql`${user}`}) not valid`)
  service.clock.now = START + aheadMs
  expect((await give([user], raise, { key })).at(-1)).toMatchObject({ record: 'stopped', given: 0 })
  await alter(sql`drop constraint no_gift`)
  service.clock.now = START
  expect((await give([user], raise, { key })).at(-1)).toEqual(end(1))
  expect((await give([user], raise, { key })).at(-1)).toEqual(end(0, { before: 1 }))
  service.clock.now = START + HOUR_MS + 1_000
  expect((await give([user], raise, { key })).at(-1)).toEqual(end(0, { before: 1 }))
  service.clock.now = START
  expect(await limitsOf(user)).toEqual([1_500])
})

test('what contradicts itself is refused', async () => {
  const users = [{ user_id: 7 }]
  const refused: [body: object, path: string, message: RegExp][] = [
    [{ users: [] }, '/users', /1 to 10000/],
    [{ users: [...users, ...users] }, '/users/1/user_id', /^7 is there twice$/],
    [{ users, units: undefined }, '/users/0/units', /is required without units for all/],
    [{ users: [{ user_id: 7, units: 0 }] }, '/users/0/units', /from 1/],
    [{ users, period: undefined }, '/period', /is required/],
    [{ users, until: 'month_end' }, '/until', /period must be null/],
    [{ users, until: 'for_good', period: null }, '/until', /grants with a period/],
    [{ users, time_zone: '+01:00' }, '/time_zone', /time zone/],
    [{ users, reason: '' }, '/reason', /1 to 500/],
  ]
  for (const [body, path, message] of refused) {
    const answer = await ask({ ...TERMS, ...body })
    expect({ status: answer.status, errors: answer.body.errors }, JSON.stringify(body)).toEqual({
      status: 400,
      errors: [{ path, message: expect.stringMatching(message) }],
    })
  }
  const without = await service.call('POST', URL, { body: { users, ...TERMS } })
  expect(without).toMatchObject({
    status: 400,
    body: { errors: [{ path: expect.stringContaining('idempotency-key') }] },
  })
})

test('10,000 users in one call', async () => {
  const users = Array.from({ length: 10_000 }, (_, n) => ({ user_id: 9_000_000_000_000_000 + n, units: 10 ** 12 }))
  const answer = await ask({ ...TERMS, users }, { dryRun: true })
  expect(recordsOf(answer).at(-1)).toEqual(end(0, { left: 10_000 }))
})
