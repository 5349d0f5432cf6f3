import { expect, test } from 'vitest'
import { startSender } from './sender-fixture.ts'

const { ask, allow, someone, counters } = await startSender()

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
