/** Which grant of a user gets more units, until when, and why a user is left out. */
import { describe, expect, test } from 'vitest'
import { commonMonthZone, countMonthZones, decideGift, type GiftTerms } from '../../src/domain/forecasts/gift.ts'
import type { Quota } from '../../src/domain/quotas/quota.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-03-15 12:00:00')
const MONTH_START = at('2026-02-28 23:00:00')
const MONTH_END = at('2026-03-31 22:00:00')
const BEFORE = at('2026-03-01')
const LATER = at('2026-03-20')

const MONTHLY: Partial<Quota> = {
  limit: 1_000,
  time_zone: 'Europe/Berlin',
  window_start: MONTH_START,
  window_end: MONTH_END,
}
const PACK: Partial<Quota> = { ...MONTHLY, id: 2, period: null, time_zone: 'UTC', window_end: null }
const DAILY: Partial<Quota> = { ...MONTHLY, id: 5, period: 'day' }
const DAILY_CAP: Partial<Quota> = {
  ...MONTHLY,
  id: 3,
  kind: 'cap',
  period: 'day',
  limit: 20,
  window_end: at('2026-03-15 23:00:00'),
}
const TERMS: GiftTerms = { period: 'month', until: 'window_end', monthZone: 'UTC', reason: 'Outage', again: true }
const EXPIRED = { starts_at: at('2026-01-01'), expires_at: BEFORE }

const decide = (quotas: readonly Partial<Quota>[], terms: Partial<GiftTerms> = {}, units = 500) =>
  decideGift(
    units,
    quotas.map(quota => aQuota({ id: 1, ...MONTHLY, ...quota })),
    { ...TERMS, ...terms },
    NOW,
  )

/** What a user gets; fails if nothing. */
function given(quotas: readonly Partial<Quota>[], terms: Partial<GiftTerms> = {}, units = 500) {
  const decided = decide(quotas, terms, units)
  if (decided.outcome !== 'given') throw new Error(`left out: ${decided.reason}`)
  return decided
}

test.each<[string, Partial<Quota>[], object]>([
  ['has no quota', [], { reason: 'no_quota', quota: null }],
  ['has only caps', [DAILY_CAP], { reason: 'only_caps', quota: null }],
  ['has an unlimited grant', [{ limit: null }], { reason: 'unlimited', quota: { id: 1 } }],
  ['has an unlimited grant of another period', [{ ...PACK, limit: null }], { reason: 'unlimited', quota: null }],
  ['has a suspended grant', [{ enabled: false }], { reason: 'not_live', quota: { id: 1 } }],
  ['has a grant that has not begun', [{ starts_at: LATER }], { reason: 'not_live' }],
  ['has only a grant that has ended', [{ ...PACK, ...EXPIRED }], { reason: 'not_live', quota: { id: 2 } }],
  ['has only a one-time grant', [PACK], { reason: 'only_one_time', quota: { id: 2 } }],
  ['has a grant of another period', [PACK, DAILY], { reason: 'other_period', quota: { id: 5 } }],
])('a user who %s is left out', (_title, quotas, why) => {
  expect(decide(quotas)).toMatchObject({ outcome: 'left_out', ...why })
})

test('the grant that pays first gets the units', () => {
  const grants = [{ id: 9, priority: 200 }, { id: 8 }, { id: 10, priority: 1, metadata: { extends_quota: '8' } }]
  expect(given(grants)).toMatchObject({
    quota: { id: 8 },
    units: 500,
    end: MONTH_END,
    timeZone: 'Europe/Berlin',
    notes: [{ note: 'several' }],
  })
  expect(given([...grants, { id: 11, priority: 5 }]).quota.id).toBe(11)
})

test('the same units for the same reason are given once in a window, by any author of the reason', () => {
  const extra: Partial<Quota> = {
    id: 5,
    period: null,
    external_ref: given([{}]).reference,
    expires_at: MONTH_END,
    metadata: { extends_quota: '1', reason: 'Outage' },
  }
  expect(extra.external_ref).toBe(`top-up-1-${MONTH_START}-500-1hwh8qu`)
  const before = { outcome: 'left_out', reason: 'had_before', quota: { id: 5 } }
  expect(decide([{}, extra])).toMatchObject(before)
  expect(decide([{}, extra], { reason: ' OUTAGE ' })).toMatchObject(before)
  // Another window, number of units or reason is another gift. A user who got one in this window gets it again only if asked.
  expect(decide([{ window_start: BEFORE }, extra])).toMatchObject({ outcome: 'given' })
  expect(given([{}, extra], {}, 400)).toMatchObject({ earlier: [{ id: 5 }] })
  expect(given([{}, extra], { reason: 'Excuse' })).toMatchObject({ earlier: [{ id: 5 }] })
  const others = decide([{}, extra], { reason: 'Excuse', again: false })
  expect(others).toMatchObject({ outcome: 'left_out', reason: 'got_others', quota: { id: 5 } })
  // One that ended with an earlier window, or was suspended, is none.
  for (const gone of [{ expires_at: MONTH_START }, { enabled: false }, { metadata: { extends_quota: '6' } }])
    expect(given([{}, { ...extra, ...gone }], { reason: 'Excuse', again: false }).earlier).toEqual([])
})

test('a user who is left out would get units on another grant', () => {
  const month = { end: at('2026-04-01'), isMonthEnd: true, timeZone: 'UTC' }
  expect(decide([PACK])).toMatchObject({ reason: 'only_one_time', offer: { quota: { id: 2 }, ...month } })
  expect(decide([DAILY])).toMatchObject({ reason: 'other_period', offer: { quota: { id: 5 }, isMonthEnd: false } })
  expect(decide([])).toMatchObject({ offer: null })
  // "Today" is no month, and a limit that is raised for good is none of a one-time grant.
  expect(decide([PACK], { period: 'day' })).toMatchObject({ offer: { end: null, isMonthEnd: false } })
  expect(decide([PACK], { until: 'for_good' })).toMatchObject({
    offer: { end: null, reference: expect.stringMatching(/^top-up-2-/) },
  })
  expect(decide([DAILY], { until: 'for_good' })).toMatchObject({ offer: { reference: null } })
  expect(decide([{}], { period: null, until: 'month_end' })).toMatchObject({ offer: { end: MONTH_END } })
  // Who had the units before gets none with the other terms either, and that is why.
  const reference = given([PACK], { period: null, until: 'month_end' }).reference
  const extra = { ...PACK, id: 6, external_ref: reference, metadata: { extends_quota: '2' } }
  expect(decide([PACK, extra])).toMatchObject({ reason: 'had_before', quota: { id: 6 }, offer: null })
})

test('units on a one-time grant end with the month, or with the grant', () => {
  const once = { period: null } as const
  const month = { ...once, until: 'month_end' } as const
  expect(given([PACK], month)).toMatchObject({ end: at('2026-04-01'), timeZone: 'UTC', isMonthEnd: true })
  const inBerlin = given([PACK], { ...month, monthZone: 'Europe/Berlin' })
  expect(inBerlin).toMatchObject({ end: MONTH_END, timeZone: 'Europe/Berlin' })
  // The zone may be another one with another file, but the gift is the same.
  expect(inBerlin.reference).toBe(given([PACK], month).reference)
  expect(inBerlin.reference).toMatch(/^top-up-2-until-2026-04-500-/)
  expect(given([PACK], once)).toMatchObject({ end: null, isMonthEnd: false })
  const ends = at('2027-01-10')
  expect(given([{ ...PACK, expires_at: ends }], once)).toMatchObject({ end: ends })
})

test('the month ends where most monthly grants start anew', () => {
  const counts = new Map<string, number>()
  expect(commonMonthZone(counts)).toBe('UTC')
  const dead = { enabled: false, time_zone: 'Asia/Tokyo' }
  const grants = [PACK, { time_zone: 'Asia/Tokyo' }, dead, dead, {}, {}]
  for (const quota of grants) countMonthZones(counts, [aQuota({ ...MONTHLY, ...quota })], NOW)
  expect(commonMonthZone(counts)).toBe('Europe/Berlin')
})

describe('by a clock that is behind that of another process', () => {
  const AHEAD = NOW + HOUR_MS
  const begun = { starts_at: AHEAD, created_at: AHEAD, window_start: AHEAD }

  test('a grant that was made there gets units, and its zone counts', () => {
    expect(given([begun])).toMatchObject({ quota: { id: 1 }, end: MONTH_END })
    expect(given([begun], { until: 'for_good' })).toMatchObject({ quota: { id: 1 }, reference: null })
    const counts = new Map<string, number>()
    countMonthZones(counts, [aQuota({ ...MONTHLY, ...begun })], NOW)
    expect(commonMonthZone(counts)).toBe('Europe/Berlin')
    // It would end before it begins.
    const april = at('2026-04-01 00:00:01')
    const pack = { ...PACK, starts_at: april, created_at: april, window_start: april }
    expect(given([pack], { period: null, until: 'month_end' })).toMatchObject({ end: at('2026-05-01') })
  })

  test('units that were given there are not given again', () => {
    const extra: Partial<Quota> = {
      ...{ ...begun, id: 5, period: null, window_end: null, expires_at: MONTH_END },
      metadata: { extends_quota: '1', reason: 'Outage' },
    }
    const decided = decide([{}, extra], { reason: 'Excuse', again: false })
    expect(decided).toMatchObject({ outcome: 'left_out', reason: 'got_others', quota: { id: 5 } })
  })

  test('units end with the window that was opened there', () => {
    const opened = { window_no: 3, window_start: MONTH_END, window_end: at('2026-04-30 22:00:00') }
    const gift = given([opened])
    expect(gift).toMatchObject({ end: opened.window_end, reference: expect.stringContaining(`-${MONTH_END}-`) })
  })

  test('a cap that was made there is in the way', () => {
    expect(given([{}, { ...DAILY_CAP, ...begun }]).notes).toMatchObject([{ note: 'cap', cap: { id: 3 } }])
  })
})

test('units for good raise the limit', () => {
  const extra = { id: 5, period: null, metadata: { extends_quota: '1' } }
  expect(given([{}, extra], { until: 'for_good', again: false })).toMatchObject({
    reference: null,
    end: null,
    earlier: [],
    notes: [{ note: 'has_extra', extra: { id: 5 } }],
  })
})

test.each<[string, Partial<Quota>[], Partial<GiftTerms>, object | null, number | null]>([
  ['none', [], {}, null, null],
  ['what is left today, and 16 days more', [DAILY_CAP], {}, { capacity: 340, ending: 1_000, isReached: false }, 0],
  [
    'the old limit after a raise',
    [
      { ...DAILY_CAP, limit: 100, metadata: { continued_by: '4' } },
      { ...DAILY_CAP, id: 4, starts_at: at('2026-03-15 23:00:00') },
    ],
    {},
    { capacity: 420, cap: { id: 4 } },
    0,
  ],
  [
    'nothing this month',
    [{ ...DAILY_CAP, period: 'month', window_end: MONTH_END, used: 20 }],
    {},
    { capacity: 0, isReached: true },
    0,
  ],
  [
    'nothing, ever, of a block',
    [{ ...DAILY_CAP, limit: 0 }],
    { until: 'for_good' },
    { capacity: 0, isReached: true },
    0,
  ],
  [
    'enough from tomorrow on',
    [{ ...DAILY_CAP, used: 20 }],
    { until: 'for_good' },
    { isReached: true, capacity: null },
    500,
  ],
  [
    'part of them',
    [{ ...DAILY_CAP, period: 'year', limit: 1_200, window_end: at('2026-12-31 23:00:00') }],
    {},
    { capacity: 1_200 },
    200,
  ],
  ['all, if it ends before them', [{ ...DAILY_CAP, expires_at: LATER }], {}, null, null],
  ['all of other messages', [{ ...DAILY_CAP, countries: ['DE'] }], {}, null, null],
])('a cap lets pass %s', (_title, caps, terms, note, usable) => {
  const gift = given([{}, ...caps], terms)
  expect(gift.usable).toBe(usable)
  expect(gift.notes).toMatchObject(note === null ? [] : [{ note: 'cap', ...note }])
})

test.each<[string, Partial<Quota>, number | null, number]>([
  ['ends by then is sent first', {}, 2_000, 500],
  ['rolls over stays', { rollover_limit: 10 }, 1_000, 1_500],
  ['ends later stays', { window_end: at('2026-04-02') }, 1_000, 1_500],
  ['is unlimited is sent instead', { limit: null }, null, 0],
])('of the units that a cap lets pass, what %s', (_title, other, ending, usable) => {
  const cap = { ...DAILY_CAP, period: null, window_end: null, limit: 2_500 }
  const terms = { period: 'month' } as const
  const [note] = given([{}, { id: 9, priority: 255, ...other }, cap], terms, 2_000).notes
  expect(note).toMatchObject({ note: 'cap', capacity: 2_500, ending, usable })
})
