import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { startSender } from './sender-fixture.ts'

const { ask, allow, call, someone, counters, db } = await startSender()

const TODAY = '2026-03-15T00:00:00.000Z'
const TOMORROW = '2026-03-16T00:00:00.000Z'
const LATER = '2026-05-01T00:00:00.000Z'

const grant = (limit: number, fields: object = {}) => ({ limit, ...fields })
const cap = (limit: number, fields: object = {}) => ({ kind: 'cap', limit, ...fields })

/** Case → the user's quotas, further fields of a request of 5 units → reason, remaining, index of the limiting quota, retry_at. */
type Row = [string, object[], object, string, number, number | null, string | null]
// biome-ignore format: one case per line.
const DENIED: Row[] = [
  ['no quota at all', [], {}, 'no_quota', 0, null, null],
  ['a suspended quota', [grant(9, { enabled: false })], {}, 'no_quota', 0, null, null],
  ['a scheduled quota', [grant(9, { starts_at: LATER })], {}, 'no_quota', 0, null, LATER],
  ['a quota of another country', [grant(9, { countries: ['AT'] })], { country: 'DE' }, 'no_quota', 0, null, null],
  ['a quota with countries, and a request without one', [grant(9, { countries: ['AT'] })], {}, 'no_quota', 0, null, null],
  ['a quota of another message type', [grant(9, { message_types: ['otp'] })], { message_type: 'news' }, 'no_quota', 0, null, null],
  ['a grant with too little', [grant(4)], {}, 'quota_exhausted', 4, 0, null],
  ['a grant that never has enough', [grant(4, { period: 'day' })], {}, 'quota_exhausted', 4, 0, null],
  ['two grants with too little', [grant(2), grant(2)], {}, 'quota_exhausted', 4, 1, null],
  ['a cap', [grant(9), cap(4)], {}, 'cap_reached', 4, 1, null],
  ['two caps: the one with the lowest id limits', [grant(9), cap(4), cap(3)], {}, 'cap_reached', 3, 1, null],
  ['a cap and a grant: the cap comes first', [grant(2), cap(4)], {}, 'cap_reached', 2, 1, null],
]

test.each(DENIED)('%s', async (_what, quotas, fields, reason, remaining, limiting, retryAt) => {
  const user = someone()
  const ids: number[] = []
  for (const quota of quotas) ids.push(await allow({ user_id: user, ...quota }))
  const denied = {
    granted: false,
    reason,
    remaining,
    limiting_quota_id: limiting === null ? null : ids[limiting],
    retry_at: retryAt,
  }
  for (const [op, more] of [
    ['check', {}],
    ['reserve', { id: 'm' }],
    ['consume', { id: 'm' }],
  ] as const) {
    const { status, body } = await ask(op, { user_id: user, units: 5, ...fields, ...more })
    expect([status, body]).toEqual([200, denied])
  }
  for (const id of ids) expect(await counters(id)).toEqual([0, 0])
})

test.each([
  ['quota_exhausted', [grant(8, { period: 'day', starts_at: TODAY })]],
  ['cap_reached', [grant(99), cap(8, { period: 'day', starts_at: TODAY })]],
])('%s until the next window', async (reason, quotas) => {
  const user = someone()
  for (const quota of quotas) await allow({ user_id: user, ...quota })
  await ask('consume', { user_id: user, id: 'earlier', units: 4 })
  const { body } = await ask('reserve', { user_id: user, id: 'm', units: 5 })
  expect(body).toMatchObject({ granted: false, reason, remaining: 4, retry_at: TOMORROW })
})

test('a denied id is decided again', async () => {
  const user = someone()
  expect((await ask('reserve', { user_id: user, id: 'm', units: 5 })).body.granted).toBe(false)
  await allow({ user_id: user, limit: 3 })
  expect((await ask('reserve', { user_id: user, id: 'm', units: 3 })).body).toMatchObject({ granted: true, units: 3 })
})

test('explain gives the verdict on every quota, granted or denied', async () => {
  const user = someone()
  const line = async (body: object, verdict: string, units = 0) => {
    const quota_id = await allow({ user_id: user, ...body })
    return { quota_id, kind: 'kind' in body ? 'cap' : 'grant', verdict, units }
  }
  const lines = [
    await line(grant(3, { priority: 1 }), 'draws', 3),
    await line(grant(0, { priority: 2 }), 'exhausted'),
    await line(grant(9, { priority: 3 }), 'draws', 2),
    await line(grant(9, { priority: 4 }), 'not_needed'),
    await line(cap(6), 'has_headroom', 5),
    await line(grant(9, { enabled: false }), 'suspended'),
    await line(grant(9, { starts_at: LATER }), 'scheduled'),
    await line(grant(9, { countries: ['AT'] }), 'other_country'),
    await line(grant(9, { message_types: ['otp'] }), 'other_message_type'),
  ]
  const byId = (all: { quota_id: number }[]) => all.toSorted((one, other) => one.quota_id - other.quota_id)
  const request = { user_id: user, country: 'DE', explain: true }
  for (const [op, more] of [
    ['check', {}],
    ['reserve', { id: 'm' }],
  ] as const) {
    const { body } = await ask(op, { ...request, ...more, units: 5 })
    expect(body.granted).toBe(true)
    expect(byId(body.explain)).toEqual(lines)
  }
  const { body } = await ask('check', { ...request, units: 7 })
  expect(body).toMatchObject({ granted: false, reason: 'cap_reached' })
  expect(body.explain).toContainEqual({ quota_id: lines[4]?.quota_id, kind: 'cap', verdict: 'blocks', units: 0 })
})

describe('explain names quotas that have ended', () => {
  const YESTERDAY = '2026-03-14T12:00:00.000Z'
  const NOON = '2026-03-15T12:00:00.000Z'
  const ended = (body: object, expires_at = YESTERDAY) => ({
    limit: 9,
    starts_at: '2026-03-01T00:00:00Z',
    expires_at,
    ...body,
  })
  const expired = (quota_id: number, expires_at = YESTERDAY, kind = 'grant') => ({
    quota_id,
    kind,
    verdict: 'expired',
    units: 0,
    expires_at,
  })

  test.each([
    ['check', {}],
    ['reserve', { id: 'm' }],
    ['consume', { id: 'm' }],
  ])('in a %s of a user who has no other', async (op, more) => {
    const user = someone()
    const older = await allow({ user_id: user, ...ended({}, '2026-03-10T00:00:00.000Z') })
    const cap = await allow({ user_id: user, ...ended({ kind: 'cap' }) })
    const elsewhere = await allow({ user_id: user, ...ended({ countries: ['AT'] }, NOON) })
    const deleted = await allow({ user_id: user, ...ended({}) })
    expect((await call('DELETE', `/api/sms/admin/quota/${deleted}`)).status).toBe(204)
    const { body } = await ask(op, { user_id: user, units: 1, country: 'DE', explain: true, ...more })
    expect(body).toMatchObject({ granted: false, reason: 'no_quota', limiting_quota_id: null })
    expect(body.explain).toEqual([
      expired(elsewhere, NOON),
      expired(cap, YESTERDAY, 'cap'),
      expired(older, '2026-03-10T00:00:00.000Z'),
    ])
    const unasked = await ask(op, { user_id: user, units: 1, country: 'DE', ...more })
    expect(unasked.body).not.toHaveProperty('explain')
  })

  test('after those that are live, and also when units are granted', async () => {
    const user = someone()
    const over = await allow({ user_id: user, ...ended({}) })
    const live = await allow({ user_id: user, limit: 3 })
    const { body } = await ask('reserve', { user_id: user, id: 'm', units: 2, explain: true })
    expect(body.explain).toEqual([{ quota_id: live, kind: 'grant', verdict: 'draws', units: 2 }, expired(over)])
  })

  test('once, though a command of the same batch settles on one of them', async () => {
    const user = someone()
    const pack = await allow({ user_id: user, limit: 3, starts_at: '2026-03-15T00:00:00Z' })
    expect((await ask('reserve', { user_id: user, id: 'before', units: 2 })).body.granted).toBe(true)
    expect((await call('PUT', `/api/sms/admin/quota/${pack}`, { body: { expires_at: NOON } })).status).toBe(200)
    const { body } = await ask('batch', {
      operations: [
        { op: 'commit', user_id: user, id: 'before' },
        { op: 'reserve', user_id: user, id: 'after', units: 1, explain: true },
      ],
    })
    expect(body.results[0]).toMatchObject({ status: 200, body: { committed: 2 } })
    expect(body.results[1].body).toMatchObject({ granted: false, explain: [expired(pack, NOON)] })
    expect(body.results[1].body.explain.length).toBe(1)
  })

  test('the 20 that ended last, of any number', async () => {
    const user = someone()
    const first = await allow({ user_id: user, ...ended({}, '2026-03-02T00:00:00.000Z') })
    await db.query({
      text: sql`insert into quota (shard, id, user_id, kind, time_zone, rollover_limit, overage_limit, priority, starts_at,
               expires_at, alert_at, enabled, metadata, window_start, created_at, created_by, updated_at, updated_by)
             select shard, id + 64000000::bigint * n, user_id, kind, time_zone, 0, 0, 100, starts_at,
               expires_at + n * interval '1 hour', '{}', true, '{}', window_start, created_at, '', updated_at, ''
             from quota, generate_series(1, 300) n where user_id = $1`,
      values: [user],
    })
    const { body } = await ask('check', { user_id: user, units: 1, explain: true })
    const last = Array.from({ length: 20 }, (_, index) => first + 64 * 1_000_000 * (300 - index))
    expect(body.explain.map(({ quota_id }: { quota_id: number }) => quota_id)).toEqual(last)
  })
})
