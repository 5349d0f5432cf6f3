import { describe, expect, test } from 'vitest'
import { verify } from '../../src/db/verify/verify.ts'
import { START } from '../support/service.ts'
import { SENDER, startSender } from './sender-fixture.ts'

const { ask, allow, someone, counters, call, clock, db, senderToken, token } = await startSender()

const NOW = '2026-03-15T12:00:00.000Z'
const TODAY = '2026-03-15T00:00:00.000Z'
const IN_TEN_MINUTES = '2026-03-15T12:10:00.000Z'

async function grantOf(limit: number, fields: object = {}): Promise<[user: number, grant: number]> {
  const user = someone()
  return [user, await allow({ user_id: user, limit, ...fields })]
}

describe('check', () => {
  test('answers like reserve, without id and state, and takes nothing', async () => {
    const [user, grant] = await grantOf(10)
    for (const _again of [1, 2]) {
      expect(await ask('check', { user_id: user, units: 3 })).toMatchObject({ status: 200 })
    }
    const { body } = await ask('check', { user_id: user, units: 3 })
    expect(body).toEqual({
      granted: true,
      user_id: user,
      units: 3,
      unfunded: 0,
      draws: [{ quota_id: grant, kind: 'grant', units: 3, window_start: NOW }],
      remaining: 10,
    })
    expect(await counters(grant)).toEqual([0, 0])
  })
})

describe('reserve', () => {
  test('reserves units in the grants that pay and in the caps that match', async () => {
    const user = someone()
    const month = await allow({ user_id: user, limit: 2, period: 'month', starts_at: TODAY })
    const pool = await allow({ user_id: user, limit: 10, starts_at: NOW, priority: 200 })
    const cap = await allow({ user_id: user, kind: 'cap', limit: 8, period: 'day', starts_at: TODAY })
    const { status, body } = await ask('reserve', { user_id: user, id: 'A.1_:-z', units: 5 })
    expect(status).toBe(200)
    expect(body).toEqual({
      granted: true,
      id: 'A.1_:-z',
      user_id: user,
      state: 'reserved',
      units: 5,
      committed: 0,
      released: 0,
      refunded: 0,
      unfunded: 0,
      segments: null,
      rate: null,
      verified: false,
      draws: [
        { quota_id: month, kind: 'grant', units: 2, window_start: TODAY },
        { quota_id: pool, kind: 'grant', units: 3, window_start: NOW },
        { quota_id: cap, kind: 'cap', units: 5, window_start: TODAY },
      ],
      expires_at: IN_TEN_MINUTES,
      remaining: 3,
      replayed: false,
    })
    expect(await Promise.all([month, pool, cap].map(counters))).toEqual([
      [0, 2],
      [0, 3],
      [0, 5],
    ])
  })

  test('outstanding units are released at expiry, or committed with on_expiry', async () => {
    const [user, grant] = await grantOf(10)
    await ask('reserve', { user_id: user, id: 'back', units: 2, ttl_seconds: 1 })
    await ask('reserve', { user_id: user, id: 'kept', units: 3, ttl_seconds: 1, on_expiry: 'commit' })
    clock.now = START + 1_000
    const read = async (id: string) =>
      (await call('GET', `${SENDER}/reservations/${user}/${id}`, { token: senderToken })).body
    expect(await read('back')).toMatchObject({ state: 'expired', released: 2, expires_at: null })
    expect(await read('kept')).toMatchObject({ state: 'committed', committed: 3, expires_at: null })
    expect(await counters(grant)).toEqual([3, 0])
    clock.now = START
  })
})

describe('a message', () => {
  const to = '+4915112345678'

  test('is measured, and the response has its segments and its country', async () => {
    const [user] = await grantOf(10, { countries: ['DE'] })
    const { body } = await ask('reserve', { user_id: user, id: 'm', message: { to, text: 'я'.repeat(71) } })
    expect(body).toMatchObject({ granted: true, units: 2, encoding: 'UCS-2', segments: 2, country: 'DE', remaining: 8 })
  })

  test('a check and a denial have them too', async () => {
    const [user] = await grantOf(1)
    const message = { to, text: 'a'.repeat(161) }
    const measured = { encoding: 'GSM-7', segments: 2, country: 'DE' }
    const denied = await ask('check', { user_id: user, message })
    expect(denied.body).toMatchObject({ granted: false, units: 2, remaining: 1, ...measured })
    await allow({ user_id: user, limit: 1 })
    expect((await ask('check', { user_id: user, message })).body).toMatchObject({
      granted: true,
      units: 2,
      ...measured,
    })
  })

  test('to a number without a country matches no quota with countries', async () => {
    const [user] = await grantOf(10, { countries: ['DE'] })
    for (const [number, country] of [
      ['+883510000000001', '001'],
      ['+999510000000001', null],
    ]) {
      const { body } = await ask('check', { user_id: user, message: { to: number, text: '' } })
      expect(body).toMatchObject({ granted: false, reason: 'no_quota', units: 1, country })
    }
  })

  test.each([
    // In service, and in no numbering plan: pumped traffic goes to such numbers.
    ['+16243051111', 'US', 'CA', 'MX'],
    ['+447911909813', 'GB', 'JE', 'IE'],
    ['+393006141398', 'IT', 'VA', 'SM'],
    ['+61446194629', 'AU', 'CX', 'NZ'],
    ['+76210761089', 'RU', 'KZ', 'BY'],
    ['+88161234567', '001', '001', 'US'],
  ])(
    'to %s is paid by a grant for %s, and blocked by a cap for %s, but not for %s',
    async (number, main, other, far) => {
      const blocked = async (...countries: string[]) => {
        const [user] = await grantOf(10, { countries: [main] })
        await allow({ user_id: user, kind: 'cap', limit: 0, countries })
        const { body } = await ask('consume', { user_id: user, id: 'm', message: { to: number, text: '' } })
        expect(body.country).toBe(main)
        return body.reason === 'cap_reached'
      }
      expect([await blocked(main), await blocked(other), await blocked(far, other), await blocked(far)]).toEqual([
        true,
        true,
        true,
        false,
      ])
      const [user] = await grantOf(10, { countries: [far] })
      const { body } = await ask('check', { user_id: user, message: { to: number, text: '' } })
      expect(body).toMatchObject({ granted: false, reason: 'no_quota' })
    },
  )

  test('is the same request as one with its units and its country', async () => {
    const [user] = await grantOf(10)
    await ask('reserve', { user_id: user, id: 'm', message: { to, text: 'one' } })
    const again = await ask('reserve', { user_id: user, id: 'm', units: 1, country: 'DE' })
    expect(again).toMatchObject({ status: 200, body: { replayed: true } })
    const other = await ask('reserve', { user_id: user, id: 'm', message: { to: '+436641234567', text: 'one' } })
    expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_mismatch', errors: [{ path: '/country' }] } })
  })
})

describe('settling', () => {
  const state = (body: { state: string; committed: number; released: number; refunded: number }) => [
    body.state,
    body.committed,
    body.released,
    body.refunded,
  ]

  test('uses totals, so that every call can be repeated', async () => {
    const [user, grant] = await grantOf(10)
    await ask('reserve', { user_id: user, id: 'c', units: 6 })
    const settle = async (op: string, total?: number) => {
      const { status, body } = await ask(op, {
        user_id: user,
        id: 'c',
        ...(total === undefined ? {} : { total_units: total }),
      })
      expect(status, JSON.stringify(body)).toBe(200)
      return [...state(body), body.replayed]
    }
    expect(await settle('commit', 2)).toEqual(['reserved', 2, 0, 0, false])
    expect(await settle('commit', 2)).toEqual(['reserved', 2, 0, 0, true])
    expect(await settle('commit', 1)).toEqual(['reserved', 2, 0, 0, true])
    expect(await settle('commit', 4)).toEqual(['reserved', 4, 0, 0, false])
    expect(await counters(grant)).toEqual([4, 2])
    expect(await settle('release')).toEqual(['committed', 4, 2, 0, false])
    expect(await settle('refund', 1)).toEqual(['committed', 4, 2, 1, false])
    expect(await settle('refund')).toEqual(['refunded', 4, 2, 4, false])
    expect(await counters(grant)).toEqual([0, 0])
  })

  test('returns the current reservation', async () => {
    const [user, grant] = await grantOf(10)
    await ask('reserve', { user_id: user, id: 'c', units: 6 })
    const { body } = await ask('commit', { user_id: user, id: 'c' })
    const reservation = {
      id: 'c',
      user_id: user,
      state: 'committed',
      units: 6,
      committed: 6,
      released: 0,
      refunded: 0,
      unfunded: 0,
      segments: null,
      rate: null,
      verified: false,
      draws: [{ quota_id: grant, kind: 'grant', units: 6, window_start: NOW }],
      expires_at: null,
    }
    expect(body).toEqual({ ...reservation, replayed: false })
    const read = await call('GET', `${SENDER}/reservations/${user}/c`, { token: senderToken })
    expect([read.status, read.body]).toEqual([
      200,
      { ...reservation, made_by: 'gateway', settled_by: 'gateway', actions: [] },
    ])
  })

  test('a forced commit charges again what was refunded, for a message that was delivered after all', async () => {
    const [user, grant] = await grantOf(6)
    await ask('consume', { user_id: user, id: 'late', units: 6 })
    await ask('refund', { user_id: user, id: 'late' })
    await ask('consume', { user_id: user, id: 'other', units: 6 })
    const plain = await ask('commit', { user_id: user, id: 'late' })
    expect(plain.body).toMatchObject({ state: 'refunded', replayed: true })
    for (const replayed of [false, true]) {
      const { status, body } = await ask('commit', { user_id: user, id: 'late', force: true })
      expect([status, body.replayed, ...state(body)]).toEqual([200, replayed, 'committed', 6, 0, 0])
    }
    expect(await counters(grant)).toEqual([12, 0])
    expect((await verify(db, { userId: user })).differences).toEqual([])
  })
})

describe('consume', () => {
  test.each(['reserve', 'consume'])('what was booked with force is repeated by a %s without it', async op => {
    const [user, grant] = await grantOf(1)
    await ask('consume', { user_id: user, id: 'f', units: 2, country: 'DE', force: true })
    const plain = await token({ sub: 'another', roles: ['sms-quota:sender'] })
    const repeat = (fields: object = {}) => {
      const body = { user_id: user, id: 'f', units: 2, country: 'DE', ...fields }
      return call('POST', `${SENDER}/${op}`, { token: plain, body })
    }
    const granted = { granted: true, units: 2, replayed: true, state: 'committed', expires_at: null }
    expect(await repeat()).toMatchObject({ status: 200, body: granted })
    const differs = (field: string) => ({ status: 409, body: { errors: [{ path: `/${field}` }] } })
    expect(await repeat({ units: 3 })).toMatchObject(differs('units'))
    expect(await repeat({ country: 'FR' })).toMatchObject(differs('country'))
    expect(await repeat({ message_type: 'otp' })).toMatchObject(differs('message_type'))
    expect(await counters(grant)).toEqual([2, 0])
    await ask('refund', { user_id: user, id: 'f' })
    expect(await repeat()).toMatchObject({ status: 409, body: { code: 'reservation_closed' } })
  })
})
