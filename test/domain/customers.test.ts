/** Where customers stand, in which order of urgency, and what their figures come to. */
import { describe, expect, test } from 'vitest'
import {
  type DayOfUsage,
  FIGURE_DAYS,
  figuresOf,
  fundedDays,
  NEWLY_GROWN,
} from '../../src/domain/forecasts/customer-figures.ts'
import {
  nextChangeOf,
  RISKS,
  type Standing,
  standingOf,
  urgenciesOf,
  urgencyOf,
} from '../../src/domain/forecasts/customer-standing.ts'
import type { Quota } from '../../src/domain/quotas/quota.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { aQuota, at } from './fixture.ts'

const NOW = at('2026-01-15 12:00:00.000')
const ENDS = at('2026-02-01')
const IN_DAYS = (days: number) => NOW + days * DAY_MS
/** A grant of one window, which has no end of its own. */
const pack = (fields: Partial<Quota> = {}) => aQuota({ period: null, window_end: null, alert_at: [80, 100], ...fields })
const cap = (fields: Partial<Quota> = {}) => aQuota({ id: 128, kind: 'cap', limit: 50, alert_at: [80], ...fields })
const PLENTY = pack({ limit: 100_000 })

const standing = (quotas: Quota[], dailyRate: number | null = null, isAsking = true) =>
  standingOf(7, quotas, { dailyRate, isAsking }, NOW)

const ALL = { countries: null, message_types: null }

test.each<[string, Quota[], Partial<Standing>, rate?: number]>([
  ['units left', [PLENTY], { state: 'ok', sendable: 100_000, reason: null, quota_id: null, until: null, ...ALL }],
  ['no bound', [pack({ limit: null })], { state: 'ok', sendable: null, used_share: 0 }],
  [
    'nothing left',
    [pack({ used: 100 })],
    { state: 'blocked', sendable: 0, reason: 'quota_exhausted', quota_id: 64, until: null },
  ],
  [
    'nothing left until the next window',
    [aQuota({ used: 100 })],
    { state: 'blocked', reason: 'quota_exhausted', until: ENDS },
  ],
  [
    'a cap that is reached',
    [PLENTY, cap({ used: 50 })],
    { state: 'blocked', sendable: 0, reason: 'cap_reached', quota_id: 128, until: ENDS },
  ],
  [
    'a cap that is reached for some messages',
    [PLENTY, cap({ used: 50, countries: ['FR'] })],
    {
      state: 'blocked',
      sendable: 100_000,
      reason: 'cap_reached',
      quota_id: 128,
      countries: ['FR'],
      message_types: null,
    },
  ],
  [
    'overage left',
    [pack({ used: 100, overage_limit: 10 })],
    { state: 'near_limit', sendable: 10, used_share: 1_000_000 },
  ],
  ['no quota', [], { state: 'blocked', sendable: 0, reason: 'no_quota', quota_id: null }],
  ['a suspended quota only', [pack({ enabled: false })], { state: 'blocked', reason: 'no_quota' }],
  [
    'a block',
    [PLENTY, cap({ limit: 0 })],
    { state: 'blocked_on_purpose', sendable: 0, reason: 'cap_reached', quota_id: 128 },
  ],
  ['a block of some messages', [PLENTY, cap({ limit: 0, countries: ['FR'] })], { state: 'ok', sendable: 100_000 }],
  [
    'a block, and nothing left of others',
    [pack({ used: 100 }), cap({ limit: 0, countries: ['FR'] })],
    { state: 'blocked', reason: 'quota_exhausted' },
  ],
  ['grants of other messages', [pack({ countries: ['DE'], limit: 30 })], { state: 'ok', sendable: 30 }],
  ['a share below the first alert', [pack({ used: 79 })], { state: 'ok', used_share: 790_000 }],
  [
    'a share at the first alert',
    [aQuota({ used: 80, alert_at: [80, 100] })],
    { state: 'near_limit', quota_id: 64, until: ENDS, sendable: 20 },
  ],
  ['a share that no alert watches', [pack({ used: 99, alert_at: [] })], { state: 'ok', used_share: 990_000 }],
  [
    'a cap near its limit',
    [PLENTY, cap({ used: 45, countries: ['FR'] })],
    { state: 'near_limit', quota_id: 128, countries: ['FR'], used_share: 900_000 },
  ],
  [
    'a used pack beside a fresh one',
    [pack({ used: 100 }), pack({ id: 192 })],
    { state: 'ok', sendable: 100, used_share: 500_000 },
  ],
  [
    'a used pack of other messages',
    [pack({ used: 100, countries: ['DE'] }), pack({ id: 192, countries: ['FR'] })],
    { state: 'blocked', sendable: 100, countries: ['DE'] },
  ],
  [
    'a window that has closed',
    [aQuota({ used: 100, window_start: at('2025-12-01'), window_end: at('2026-01-01') })],
    { state: 'ok', used_share: 0 },
  ],
  [
    'a cap for each recipient',
    [PLENTY, cap({ per: 'recipient', period: 'day', used: 50 })],
    { state: 'ok', used_share: 0 },
  ],
  ['a rate that lasts 5 days', [pack()], { state: 'running_out', until: IN_DAYS(5) }, 20],
  ['a rate that lasts 8 days', [pack()], { state: 'ok' }, 12.5],
  [
    'a rate that a daily cap stops each day',
    [PLENTY, cap({ period: 'day', window_end: at('2026-01-16') })],
    { state: 'ok' },
    60,
  ],
  ['a rate beside a new window', [aQuota({ window_end: IN_DAYS(2) })], { state: 'ok' }, 20],
  [
    'a grant that ends this week',
    [pack({ expires_at: IN_DAYS(6) })],
    { state: 'ending', quota_id: 64, until: IN_DAYS(6) },
  ],
  ['a grant that ends later', [pack({ expires_at: IN_DAYS(8) })], { state: 'ok' }],
  [
    'a used grant that ends',
    [PLENTY, pack({ id: 192, countries: ['FR'], limit: 0, expires_at: IN_DAYS(6) })],
    { state: 'ok' },
  ],
  [
    'extra units that end',
    [PLENTY, pack({ id: 192, expires_at: IN_DAYS(6), metadata: { extends_quota: '64' } })],
    { state: 'ok' },
  ],
])('a user with %s', (_name, quotas, expected, rate) => {
  expect(standing(quotas, rate ?? null)).toMatchObject(expected)
})

test('a user without quotas who asks for nothing is not blocked', () => {
  expect(standing([], null, false)).toMatchObject({ state: 'no_quota', reason: 'no_quota', sendable: 0 })
})

test('of several states, the most urgent shows, and urgencies are in their order', () => {
  const ends = { expires_at: IN_DAYS(6) }
  const found = [
    standing([pack({ used: 100, ...ends })], 20),
    standing([pack({ used: 90, ...ends })], 20),
    standing([pack(ends)], 20),
    standing([pack(ends)]),
    standing([PLENTY]),
  ]
  expect(found.map(({ state }) => state)).toEqual([...RISKS, 'ok'])
  const urgencies = found.map(one => urgencyOf(one, 0, NOW))
  expect(urgencies).toEqual(urgencies.toSorted((one, other) => other - one))
  expect([new Set(urgencies).size, urgencies.at(-1)]).toEqual([5, 0])
})

describe('among those of a state, the urgency', () => {
  test.each<[string, urgent: [Quota, rate: number, denied: number], other: [Quota, rate: number, denied: number]]>([
    ['grows with the units denied', [pack({ used: 100 }), 0, 10], [pack({ used: 100 }), 0, 9]],
    ['grows with the share that is used', [pack({ used: 91 }), 0, 0], [pack({ used: 90 }), 0, 500]],
    ['grows as the units run out', [pack(), 25, 0], [pack(), 20, 0]],
    ['grows as the end comes', [pack({ expires_at: IN_DAYS(1) }), 0, 0], [pack({ expires_at: IN_DAYS(2) }), 0, 0]],
  ])('%s', (_name, ...users) => {
    const [urgent = 0, other = 0] = users.map(([quota, rate, denied]) =>
      urgencyOf(standing([quota], rate), denied, NOW),
    )
    expect(urgent).toBeGreaterThan(other)
  })

  test('stays within the state, however much was denied', () => {
    const { from, to } = urgenciesOf('blocked')
    expect(urgencyOf(standing([]), Number.MAX_SAFE_INTEGER, NOW)).toBe(to - 1)
    expect(urgencyOf(standing([]), 0, NOW)).toBe(from)
  })
})

test('a standing can change at the next beginning or end of a quota or window', () => {
  expect(nextChangeOf([], NOW)).toBe(Number.POSITIVE_INFINITY)
  expect(nextChangeOf([aQuota(), pack({ expires_at: IN_DAYS(30) })], NOW)).toBe(ENDS)
  expect(nextChangeOf([aQuota(), pack({ starts_at: IN_DAYS(3) }), pack({ expires_at: IN_DAYS(4) })], NOW)).toBe(
    IN_DAYS(3),
  )
})

const day = (number: number, fields: Partial<DayOfUsage> = {}): DayOfUsage => ({
  ...{ day: number, sent: 0, denied: 0, unmet: 0, funded: 0 },
  ...fields,
})

test('figures have the days in order, and tell those before by their sum', () => {
  const figures = figuresOf([
    day(0, { sent: 6, denied: 2, unmet: 1, funded: 5 }),
    day(FIGURE_DAYS - 1, { sent: 4, denied: 3, unmet: 3 }),
    day(FIGURE_DAYS, { sent: 8, denied: 99, unmet: 99 }),
  ])
  expect(figures).toEqual({
    daily: [4, ...new Array(FIGURE_DAYS - 2).fill(0), 6],
    ...{ sent: 10, sent_before: 8, denied: 5, denied_share: 333_333, unmet: 4, growth: NEWLY_GROWN },
  })
  expect(fundedDays([day(0, { funded: 5 }), day(27, { funded: 3 }), day(28, { funded: 9 })])).toEqual([
    5,
    ...new Array(26).fill(0),
    3,
  ])
})

test.each([
  ['nothing', 0, 0, 0],
  ['growth from nothing', 1, 0, NEWLY_GROWN],
  ['a half', 5, 10, -50],
  ['an end', 0, 10, -100],
  ['as much as fits into the column', Number.MAX_SAFE_INTEGER, 1, NEWLY_GROWN - 1],
])('growth tells %s', (_name, sent, before, growth) => {
  expect(figuresOf([day(0, { sent }), day(2 * FIGURE_DAYS - 1, { sent: before })]).growth).toBe(growth)
})

test.each([
  ['of the days since the first message', FIGURE_DAYS + 9, 10, 0],
  ['of a week', FIGURE_DAYS + 6, 7, 0],
  ['of six days, which say nothing', FIGURE_DAYS + 5, 6, NEWLY_GROWN],
])('growth is by day, before: %s', (_name, first, before, growth) => {
  const days = Array.from({ length: first + 1 }, (_, number) => day(number, { sent: 1 }))
  const figures = figuresOf([...days, day(first + 1, { denied: 1 })])
  expect(figures).toMatchObject({ sent: FIGURE_DAYS, sent_before: before, growth })
})

test('sums stay numbers that are exact', () => {
  const days = [0, 1].map(number => day(number, { sent: Number.MAX_SAFE_INTEGER, denied: Number.MAX_SAFE_INTEGER }))
  expect(figuresOf(days)).toMatchObject({ sent: Number.MAX_SAFE_INTEGER, denied_share: 500_000 })
})
