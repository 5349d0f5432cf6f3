import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { MAX_SCANNED_RESERVATIONS } from '../../src/domain/basics/bounds.ts'
import { shardOf } from '../../src/domain/basics/shard.ts'
import { DAY_MS, formatTimestamp } from '../../src/domain/time/time.ts'
import { RESERVATION_STATES } from '../../src/domain/units/reservation.ts'
import { pagesOf, START } from '../support/service.ts'
import { startSender } from './sender-fixture.ts'

const ADMIN = '/api/sms/admin/quota/reservations'
const OWN = '/api/sms/quota/reservations'
const service = await startSender()
const { call, clock, allow, ask, someone } = service
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id)

/** The ids on each page. */
const walk = async (query: string) => (await pagesOf(service, `${ADMIN}?${query}`)).map(({ items }) => idsOf(items))

describe('reservations of one user', async () => {
  const user = 7
  await allow({ user_id: user, limit: 1000 })
  const german = await allow({ user_id: user, limit: 100, priority: 1, countries: ['DE'] })
  const other = await allow({ user_id: 8, limit: 10, opening_used: 1 })
  const make = async (op: string, body: object, settle?: [op: string, body: object]) => {
    clock.now += 1000
    const { body: made } = await ask(op, { user_id: user, ...body })
    expect(made.granted, JSON.stringify(made)).toBe(true)
    if (settle !== undefined) await ask(settle[0], { user_id: user, id: made.id, ...settle[1] })
  }
  // One second after the other, in this order.
  await make('reserve', { id: 'reserved', units: 2 })
  await make('reserve', { id: 'partly', units: 5, country: 'DE' }, ['commit', { total_units: 3 }])
  await make('consume', { id: 'committed', units: 3, country: 'DE', message_type: 'otp' })
  await make('consume', { id: 'refunded', units: 4 }, ['refund', {}])
  await make('reserve', { id: 'expired', units: 1, ttl_seconds: 1 })
  await make('reserve', { id: 'released', units: 1 }, ['release', {}])
  await make('reserve', { id: 'some', units: 5000, allow_partial: true }, ['release', {}])
  await make('consume', { id: 'forced', units: 1, force: true })
  await make('reserve', { id: 'due', units: 1, ttl_seconds: 1 })
  await service.engine.submit({ op: 'expire', user_id: user, id: 'expired' })
  clock.now += 2000
  const ALL = ['due', 'forced', 'some', 'released', 'expired', 'refunded', 'committed', 'partly', 'reserved']
  const mine = await service.userToken(user)

  test('show the request, its time and what happened to the units', async () => {
    const { body } = await call('GET', OWN, { token: mine })
    expect(idsOf(body.items)).toEqual(ALL)
    expect(body).toMatchObject({ page_size: 20, next_cursor: null })
    expect(body.items.find(({ id }: { id: string }) => id === 'partly')).toEqual({
      id: 'partly',
      user_id: user,
      state: 'reserved',
      units: 5,
      committed: 3,
      released: 0,
      refunded: 0,
      unfunded: 0,
      segments: null,
      rate: null,
      verified: false,
      draws: [{ quota_id: german, kind: 'grant', units: 5, window_start: at(0) }],
      expires_at: at(602),
      op: 'reserve',
      asked: 5,
      country: 'DE',
      message_type: null,
      allow_partial: false,
      force: false,
      on_expiry: 'release',
      created_at: at(2),
    })
    const { asked, units } = body.items.find(({ id }: { id: string }) => id === 'some')
    // Three exist by then.
    expect([asked, units]).toEqual([5000, 997])
    const { force, expires_at } = body.items.find(({ id }: { id: string }) => id === 'forced')
    expect([force, expires_at]).toEqual([true, null])
  })

  test('are shown to administrators with their authors', async () => {
    const own = (await call('GET', OWN, { token: mine })).body
    const authors = { made_by: 'gateway', settled_by: expect.toBeOneOf(['gateway', null]) }
    const items = own.items.map((item: object) => ({ ...item, ...authors }))
    expect((await call('GET', `${ADMIN}?user_id=${user}`)).body).toEqual({ ...own, items })
    const zoned = await call('GET', `${OWN}?from=2026-03-15T13:00:05%2B01:00&state=expired`, { token: mine })
    expect(idsOf(zoned.body.items)).toEqual(['expired'])
  })

  test('the state filter agrees with the shown state', async () => {
    const shown = new Map<string, string>()
    for (const { id, state } of (await call('GET', OWN, { token: mine })).body.items) shown.set(id, state)
    for (const state of RESERVATION_STATES) {
      const ids = idsOf((await call('GET', `${OWN}?state=${state}`, { token: mine })).body.items)
      expect(ids.length, state).toBeGreaterThan(0)
      expect(ids).toEqual(ALL.filter(id => shown.get(id) === state))
    }
  })

  test('of all users are listed by time, including those of the service itself', async () => {
    clock.now += 1000
    await ask('consume', { user_id: 8, id: 'a', units: 1 })
    const { body } = await call('GET', ADMIN)
    expect(idsOf(body.items)).toEqual(['a', ...ALL, `_opening.${other}`])
    expect(idsOf((await call('GET', OWN, { token: await service.userToken(8) })).body.items)).toEqual([
      'a',
      `_opening.${other}`,
    ])
    expect((await call('GET', OWN, { token: await service.userToken(9) })).body.items).toEqual([])
  })
})

test('rare matches are found in steps, each of which reads a bounded number', async () => {
  const user = someone()
  await service.db.query({
    text: sql`insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released,
             refunded, on_expiry, expired, draws, created_at, expires_at, changed_at)
           select $1::smallint, $2::bigint, 'n' || n, 'consume', 1, false, false, 1, 1, 0, case n when 1 then 1 else 0 end,
             'release', false, '{}', at, at, at
           from (select n, $3::timestamptz - interval '1 year' + n / 10 * interval '1 ms' as at
                 from generate_series(1, $4::int) n) rows`,
    values: [shardOf(user), user, at(0), MAX_SCANNED_RESERVATIONS * 2 + 500],
  })
  const pages = await walk(`user_id=${user}&state=refunded&page_size=5`)
  expect(pages).toEqual([[], [], ['n1']])
  // Ten are of each millisecond, and the first page ends among those of one.
  const read = (query: string) => call('GET', `${ADMIN}?user_id=${user}&state=refunded&${query}`)
  const year = Date.parse(at(0)) - 365 * DAY_MS
  const { body } = await read('page_size=5')
  expect(body.scanned_until).toBe(formatTimestamp(year + (MAX_SCANNED_RESERVATIONS + 500) / 10))
  expect((await read(`to=${formatTimestamp(year + 1)}`)).body).toMatchObject({
    items: [{ id: 'n1' }],
    scanned_until: null,
  })
})
