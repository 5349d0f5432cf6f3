/** A sender finds its own reservations that it has not settled, however many it and others have settled. */
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { MAX_SCANNED } from '../../src/db/reservations/lists-of-senders.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { RESERVATION_STATES } from '../../src/domain/units/reservation.ts'
import { pagesOf, START } from '../support/service.ts'
import { SENDER, type SenderService, startSender } from './sender-fixture.ts'

const LIST = `${SENDER}/reservations`
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()
const namesOf = (items: readonly { user_id: number; id: string }[]) =>
  items.map(({ user_id, id }) => `${user_id}/${id}`)

/** What each page lists, as user and id. */
const walk = async (service: SenderService, query: string, token: string) =>
  (await pagesOf(service, `${LIST}?${query}`, token)).map(({ items }) => namesOf(items))

describe('the reservations of a sender', async () => {
  const service = await startSender()
  const { call, clock, allow, ask } = service
  const mine = service.senderToken
  const other = await service.token({ sub: 'other', roles: ['sms-quota:sender'] })
  const users = [7, 8, 9, 10]
  for (const user_id of users) await allow({ user_id, limit: 1000 })
  const make = async (user_id: number, id: string, body: object, settle?: [op: string, body: object]) => {
    clock.now += 1000
    const { body: made } = await ask('reserve', { user_id, id, units: 2, ...body })
    expect(made.granted, JSON.stringify(made)).toBe(true)
    if (settle !== undefined) await ask(settle[0], { user_id, id, ...settle[1] })
  }
  for (const user of users) {
    await make(user, 'late', { ttl_seconds: 3600 })
    await make(user, 'partly', {}, ['commit', { total_units: 1 }])
    await make(user, 'committed', {}, ['commit', {}])
    await make(user, 'released', {}, ['release', {}])
    await make(user, 'due', { ttl_seconds: 1 })
    await make(user, 'expired', { ttl_seconds: 1 })
    clock.now += 2000
    await service.engine.submit({ op: 'expire', user_id: user, id: 'expired' })
    await ask('consume', { user_id: user, id: 'consumed', units: 1 })
    await call('POST', `${SENDER}/reserve`, { token: other, body: { user_id: user, id: 'others', units: 1 } })
  }
  clock.now += 10_000
  const open = users.flatMap(user => [`${user}/due`, `${user}/partly`, `${user}/late`])

  test('are those that it made and that are open, of all users', async () => {
    const { body } = await call('GET', LIST, { token: mine })
    expect(namesOf(body.items).toSorted()).toEqual(open.toSorted())
    expect(body).toMatchObject({ page_size: 20, next_cursor: null })
    expect(
      body.items.find(({ user_id, id }: { user_id: number; id: string }) => user_id === 7 && id === 'partly'),
    ).toEqual({
      id: 'partly',
      user_id: 7,
      state: 'reserved',
      units: 2,
      committed: 1,
      released: 0,
      refunded: 0,
      unfunded: 0,
      segments: null,
      rate: null,
      verified: false,
      draws: [{ quota_id: expect.any(Number), kind: 'grant', units: 2, window_start: at(0) }],
      expires_at: at(602),
      op: 'reserve',
      asked: 2,
      country: null,
      message_type: null,
      allow_partial: false,
      force: false,
      on_expiry: 'release',
      created_at: at(2),
    })
    expect(namesOf((await call('GET', LIST, { token: other })).body.items).toSorted()).toEqual(
      users.map(user => `${user}/others`).toSorted(),
    )
    const stranger = await service.token({ sub: 'stranger', roles: ['sms-quota:sender'] })
    expect((await call('GET', LIST, { token: stranger })).body).toMatchObject({ items: [], next_cursor: null })
  })

  test('each is in the list of its state, and in no other', async () => {
    const listed: string[] = []
    for (const state of RESERVATION_STATES) listed.push(...(await walk(service, `state=${state}`, mine)).flat())
    expect(new Set(listed).size).toBe(listed.length)
    expect(listed).toHaveLength(users.length * 7)
  })

  test('a cursor fixes the filters and the time that an age means', async () => {
    const first = await call('GET', `${LIST}?older_than=14&user_id=10&page_size=1`, { token: mine })
    expect(namesOf(first.body.items)).toEqual(['10/partly'])
    const cursor = first.body.next_cursor
    await make(10, 'new', { ttl_seconds: 7200 })
    clock.now += 100_000
    expect((await walk(service, `cursor=${cursor}&older_than=14`, mine)).flat()).toEqual(['10/late'])
    expect((await walk(service, 'older_than=14&user_id=10', mine)).flat()).toContain('10/new')
    await ask('release', { user_id: 10, id: 'new' })
    // Of another sender, it selects nothing that is not that one's own.
    expect((await walk(service, `cursor=${cursor}`, other)).flat()).toEqual([])
  })

  test('few pages are read at a time', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('GET', LIST, { token: mine })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]))
    expect(answers.find(({ status }) => status === 503)?.body).toMatchObject({
      code: 'overloaded',
      detail:
        "At most 2 lists of senders' reservations of a principal run at a time. Nothing was done; repeat the call.",
    })
    expect((await call('GET', LIST, { token: mine })).status).toBe(200)
  })

  test('what is settled leaves the list', async () => {
    await ask('commit', { user_id: 7, id: 'late' })
    await ask('release', { user_id: 7, id: 'partly' })
    expect((await walk(service, 'user_id=7', mine)).flat()).toEqual(['7/due'])
  })
})

describe('of millions that are settled', async () => {
  const service = await startSender()
  const { call, allow, ask, db } = service
  const mine = service.senderToken
  const [busy, quiet] = [1, 2]
  const inOrder = [busy, quiet].toSorted((one, other) => shardOf(one) - shardOf(other))
  for (const user_id of [busy, quiet]) await allow({ user_id, limit: 1000 })
  for (const user_id of [busy, quiet]) await ask('reserve', { user_id, id: 'open', units: 1, ttl_seconds: 7200 })

  /** Settled ones of this sender that expired, or will expire, from a time on: three a millisecond. */
  const settled = (user: number, from: number, count: number, prefix: string) =>
    db.query({
      text: sql`insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released,
             refunded, on_expiry, expired, draws, created_at, expires_at, changed_at, made_by)
           select $1::smallint, $2::bigint, $5::text || n, 'reserve', 1, false, false, 1, 1, 0, 0, 'release', false, '{}', at, at, at,
             (select id from principal where subject = 'gateway')
           from (select n, $3::timestamptz + n / 3 * interval '1 ms' as at from generate_series(0, $4::int - 1) n) rows`,
      values: [shardOf(user), user, at(from), count, prefix],
    })
  const watermark = (seconds: number) =>
    db.query({ text: sql`update sweeper_watermark set closed_until = $1`, values: [at(seconds)] })

  test('those that expired before everything is closed are not read', async () => {
    await settled(busy, -86_400, MAX_SCANNED * 2, 'old')
    expect((await walk(service, 'page_size=5', mine)).length).toBeGreaterThan(1)
    await watermark(-60)
    expect(await walk(service, 'page_size=5', mine)).toEqual([inOrder.map(user => `${user}/open`)])
  })

  test('those that expire later are read in steps of a bounded number, and a cursor names none of them', async () => {
    await settled(busy, 60, MAX_SCANNED * 2, 'soon')
    const pages = await walk(service, 'page_size=5', mine)
    expect(pages.flat().toSorted()).toEqual([`${busy}/open`, `${quiet}/open`])
    expect(pages).toHaveLength(3)
    const short = (await call('GET', `${LIST}?user_id=${busy}&page_size=5`, { token: mine })).body
    expect([short.items, Buffer.from(short.next_cursor, 'base64url').toString()]).toEqual([
      [],
      expect.stringMatching(/^\{"shard":\d+,"at":\d+,"state":"reserved","user_id":1\}$/),
    ])
  })

  test('a watermark of a clock that was wrong hides nothing', async () => {
    await watermark(86_400)
    expect((await walk(service, 'page_size=5', mine)).flat().toSorted()).toEqual([`${busy}/open`, `${quiet}/open`])
  })
})
