import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { MAX_SCANNED_DENIALS } from '../../src/domain/basics/bounds.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { pagesOf, START } from '../support/service.ts'
import { SENDER, startSender } from './sender-fixture.ts'

const ADMIN = '/api/sms/admin/denials'
const OWN = '/api/sms/quota/denials'
const service = await startSender()
const { call, clock, allow, ask, db, someone } = service
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()

type Items = readonly { id: string; denial_id: string }[]
const idsOf = (items: Items) => items.map(({ id }) => id)

/** The ids on each page. */
const walk = async (query: string) => (await pagesOf(service, `${ADMIN}?${query}`)).map(({ items }) => idsOf(items))

describe('denials', async () => {
  const user = 7
  const other = 8
  const grant = await allow({ user_id: user, limit: 5, message_types: ['otp'] })
  const cap = await allow({ user_id: user, kind: 'cap', limit: 3, period: 'hour', starts_at: at(0) })
  const deny = async (op: string, body: object, of = user) => {
    clock.now += 1000
    const answer = await ask(op, { user_id: of, ...body })
    expect(answer.body.granted, JSON.stringify(answer.body)).toBe(false)
    return answer.body
  }
  // One second after the other, in this order.
  const first = await deny('reserve', { id: 'first', units: 9, country: 'DE' })
  await deny('consume', { id: 'exhausted', units: 6, message_type: 'otp', allow_partial: false })
  await deny('reserve', { id: 'again', units: 4, country: 'AT', message_type: 'otp' })
  await deny('reserve', { id: 'again', units: 9, country: 'DE' })
  await deny('reserve', { id: 'message', message: { to: '+4366412345678', text: 'A secret of 160 characters' } })
  await deny('reserve', { id: 'again', units: 1 }, other)
  clock.now += 1000
  const batch = await ask('batch', {
    operations: [
      { op: 'check', user_id: user, units: 99 },
      { op: 'reserve', user_id: user, id: 'granted', units: 1, message_type: 'otp' },
      { op: 'reserve', user_id: user, id: 'in a batch', units: 1 },
      { op: 'reserve', user_id: user, id: 'b1', units: 9 },
      { op: 'consume', user_id: user, id: 'b2', units: 9 },
    ],
  })
  const MINE = ['b2', 'b1', 'message', 'again', 'again', 'exhausted', 'first']
  const mine = await service.userToken(user)
  const others = await service.userToken(other)

  test('are listed with the request and the answer, newest first', async () => {
    expect(batch.body.results.map(({ status }: { status: number }) => status)).toEqual([200, 200, 400, 200, 200])
    const { body } = await call('GET', OWN, { token: mine })
    expect(idsOf(body.items)).toEqual(MINE)
    expect(body).toMatchObject({ page_size: 20, next_cursor: null })
    expect(body.items.find(({ id }: { id: string }) => id === 'first')).toEqual({
      denial_id: expect.stringMatching(/^den_7_\d+_\d+$/),
      at: at(1),
      user_id: user,
      id: 'first',
      op: 'reserve',
      units: 9,
      country: 'DE',
      message_type: null,
      allow_partial: false,
      reason: first.reason,
      remaining: first.remaining,
      limiting_quota_id: first.limiting_quota_id,
      retry_at: first.retry_at,
      skipped: 0,
    })
  })

  test('show the country and the units of a message, and store neither its text nor its number', async () => {
    const { body } = await call('GET', `${OWN}?id=message`, { token: mine })
    expect(body.items).toMatchObject([{ country: 'AT', units: 1, reason: 'no_quota' }])
    const rows = await db.query<{ row: string }>({ text: sql`select d::text as row from denial d` })
    expect(rows.length).toBeGreaterThanOrEqual(MINE.length + 1)
    for (const { row } of rows) expect(row).not.toMatch(/secret|66412345678/)
  })

  test('are shown to administrators with their senders', async () => {
    const own = (await call('GET', OWN, { token: mine })).body
    const items = own.items.map((item: object) => ({ ...item, sender: 'gateway' }))
    expect((await call('GET', `${ADMIN}?user_id=${user}`)).body).toEqual({ ...own, items })
    expect((await call('GET', OWN, { token: await service.userToken(9) })).body.items).toEqual([])
  })

  test('are explained one by one, to their user and to administrators', async () => {
    const { items } = (await call('GET', `${OWN}?id=exhausted`, { token: mine })).body
    const { body, status } = await call('GET', `${OWN}/${items[0].denial_id}`, { token: mine })
    expect(status).toBe(200)
    expect(body).toEqual({
      ...items[0],
      explain: [
        { quota_id: cap, kind: 'cap', verdict: 'blocks', units: 0 },
        { quota_id: grant, kind: 'grant', verdict: 'has_headroom', units: 0 },
      ],
    })
    expect((await call('GET', `${ADMIN}/${items[0].denial_id}`)).body).toEqual({ ...body, sender: 'gateway' })
    const refused = await call('GET', `${OWN}/${items[0].denial_id}`, { token: others })
    expect(refused).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  test.each([
    'den_7_1_1',
    'den_9007199254740992_1_1',
    'den_7_999999999999999_1',
    'den_7_1773576001000_999999999999999',
  ])('there is none with the id %s', async id => {
    for (const [path, token] of [
      [ADMIN, service.adminToken],
      [OWN, mine],
    ] as const)
      expect(await call('GET', `${path}/${id}`, { token })).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  test.each(['den_7_1', 'den_07_1_1', 'den_7_1_0', 'den_7_1_1_', 'evt_7_1', '7', `den_${'9'.repeat(99)}_1_1`])(
    '%s is no id of a denial',
    async id => {
      expect(await call('GET', `${ADMIN}/${id}`)).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'denial_id' }] },
      })
    },
  )
})

test('an explanation names the quotas that had ended before, as they are when it is read', async () => {
  const user = someone()
  const ends = new Date(clock.now + 60_000).toISOString()
  const pack = await allow({ user_id: user, limit: 9, expires_at: ends })
  const revived = await allow({ user_id: user, limit: 9, expires_at: ends })
  clock.now += 60_000
  expect((await ask('reserve', { user_id: user, id: 'late', units: 1 })).body).toMatchObject({ reason: 'no_quota' })
  // This one ends after the denial.
  await allow({
    user_id: user,
    limit: 9,
    starts_at: at(0),
    expires_at: new Date(clock.now + 1).toISOString(),
  })
  clock.now += 1000
  const { items } = (await call('GET', `${ADMIN}?user_id=${user}`)).body
  const read = async () => (await call('GET', `${ADMIN}/${items[0].denial_id}`)).body.explain
  const expired = (quota_id: number) => ({ quota_id, kind: 'grant', verdict: 'expired', units: 0, expires_at: ends })
  const lines = await read()
  expect(lines).toHaveLength(2)
  expect(lines).toEqual(expect.arrayContaining([expired(pack), expired(revived)]))
  expect((await call('PUT', `/api/sms/admin/quota/${revived}`, { body: { expires_at: null } })).status).toBe(200)
  expect(await read()).toEqual([expired(pack)])
})

test('are found by their sender, by administrators only', async () => {
  const user = someone()
  const desk = await service.token({ sub: 'support "desk"', roles: ['sms-quota:sender'] })
  const deny = (id: string, token: string) =>
    call('POST', `${SENDER}/reserve`, { token, body: { user_id: user, id, units: 1 } })
  await deny('by-desk', desk)
  await deny('by-gateway', service.senderToken)
  // As a version without the column wrote it.
  await deny('unknown', desk)
  await db.query({
    text: sql`update denial set sender = null where shard = $1 and user_id = $2 and id = 'unknown'`,
    values: [shardOf(user), user],
  })
  const found = async (query: string) => {
    const { status, body } = await call('GET', `${ADMIN}?user_id=${user}&${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body.items.map(({ id, sender }: { id: string; sender: string | null }) => [id, sender])
  }
  expect(await found('sender=support%20%22desk%22')).toEqual([['by-desk', 'support "desk"']])
  expect(await found('sender=gateway')).toEqual([['by-gateway', 'gateway']])
  expect(await found('sender=other')).toEqual([])
  expect(await found('without=sender')).toEqual([['unknown', null]])
  expect((await walk(`sender=gateway&page_size=1&user_id=${user}`)).flat()).toEqual(['by-gateway'])
  const token = await service.userToken(user)
  for (const query of ['sender=gateway', 'without=sender'])
    expect((await call('GET', `${OWN}?${query}`, { token })).status, query).toBe(400)
  const own = await call('GET', OWN, { token })
  expect(own.body.items).toHaveLength(3)
  for (const item of own.body.items) expect(item).not.toHaveProperty('sender')
})

test('are found by the longest sender, past a page', async () => {
  const sub = '\u{20000}'.repeat(255)
  const token = await service.token({ sub, roles: ['sms-quota:sender'] })
  const user = someone()
  for (const id of ['one', 'two'])
    await call('POST', `${SENDER}/reserve`, { token, body: { user_id: user, id, units: 1 } })
  const pages = await walk(`sender=${encodeURIComponent(sub)}&page_size=1`)
  expect(pages.flat().toSorted()).toEqual(['one', 'two'])
})

test('rare matches are found in steps, each of which reads a bounded number', async () => {
  const user = someone()
  await db.query({
    text: sql`insert into denial (shard, user_id, at, number, id, op, units, allow_partial, reason, remaining, skipped, explanation)
           select $1::smallint, $2::bigint, $3::timestamptz - interval '1 year' + n / 10 * interval '1 ms', n, 'n' || n, 'reserve',
             1, false, case n when 1 then 'cap_reached' else 'no_quota' end, 0, 0, '[]'
           from generate_series(1, $4::int) n`,
    values: [shardOf(user), user, at(0), MAX_SCANNED_DENIALS * 2 + 500],
  })
  expect(await walk(`user_id=${user}&reason=cap_reached&page_size=5`)).toEqual([[], [], ['n1']])
  expect((await walk(`to=2025-12-31T00:00:00Z&reason=cap_reached&page_size=5`)).flat()).toEqual(['n1'])
  expect(await walk(`id=n1&user_id=${user}`)).toEqual([['n1']])
})
