import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FORECAST_DAYS, type PastUsage } from '../../src/domain/forecasts/forecast.ts'
import type { Quota } from '../../src/domain/quotas/quota.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { forecast } from '../support/forecast.ts'
import { runs } from '../support/runs.ts'
import { at, created } from './fixture.ts'

const NOW = at('2026-03-18 00:00')
let lastId = 0
function grantOf(fields: object): Quota {
  lastId += 1
  return { ...created({ limit: 700, ...fields }, NOW), id: lastId }
}
const past = (units: (daysAgo: number) => number, age = 100 * DAY_MS): PastUsage => ({
  first: NOW - age,
  days: Array.from({ length: FORECAST_DAYS }, (_, day) => units(day)),
})
const inDays = (days: number) => new Date(NOW + days * DAY_MS).toISOString()
const steady = past(() => 10)

describe('the rate', () => {
  const cases: [what: string, past: PastUsage, rate: number | null][] = [
    ['no usage ever', { first: null, days: [] }, null],
    ['six days of use', past(() => 10, 6 * DAY_MS), null],
    ['a week of use', past(day => (day < 7 ? 10 : 0), 7 * DAY_MS), 10],
    ['ten days of use: the one whole week counts', past(day => (day < 7 ? 10 : 99), 10 * DAY_MS), 10],
    ['steady', steady, 10],
    ['no use for four weeks', past(() => 0), 0],
    ['only on weekdays', past(day => (day % 7 < 5 ? 14 : 0)), 10],
    ['a burst today', past(day => (day === 0 ? 700 : 0)), 40],
    ['the same burst 27 days ago', past(day => (day === 27 ? 700 : 0)), 10],
    ['twice the use of the weeks before', past(day => (day < 7 ? 20 : 10)), 14],
    ['more refunded than used', past(day => (day < 7 ? -10 : 10)), 6],
  ]
  test.each(cases)('%s', (_what, history, rate) => {
    expect(forecast([grantOf({})], history, NOW)?.daily_rate ?? null).toBe(rate)
  })

  test('a weekly pattern gives the same rate on every weekday', () => {
    const week = fc.array(fc.nat(1000), { minLength: 7, maxLength: 7 })
    fc.assert(
      fc.property(week, fc.nat(6), (units, shift) => {
        const today = forecast(
          [],
          past(day => units[day % 7] ?? 0),
          NOW,
        )
        const later = forecast(
          [],
          past(day => units[(day + shift) % 7] ?? 0),
          NOW,
        )
        expect(later?.daily_rate).toBe(today?.daily_rate)
      }),
    )
  })

  test('lies between the slowest week and the fastest', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 28, maxLength: 28 }), units => {
        const weeks = [0, 1, 2, 3].map(week => units.slice(7 * week, 7 * week + 7).reduce((sum, n) => sum + n) / 7)
        const rate =
          forecast(
            [],
            past(day => units[day] ?? 0),
            NOW,
          )?.daily_rate ?? Number.NaN
        expect(rate).toBeGreaterThanOrEqual(Math.min(...weeks) - 0.01)
        expect(rate).toBeLessThanOrEqual(Math.max(...weeks) + 0.01)
      }),
    )
  })
})

describe('runs_out_at', () => {
  const cases: [what: string, quotas: Quota[], end: string | null][] = [
    ['one grant', [grantOf({})], inDays(70)],
    ['reserved units do not remain', [{ ...grantOf({}), used: 100, reserved: 100 }], inDays(50)],
    ['nothing left', [{ ...grantOf({}), used: 700 }], inDays(0)],
    ['no grants', [], inDays(0)],
    ['two grants add up', [grantOf({}), grantOf({})], inDays(140)],
    ['unlimited', [grantOf({ limit: null }), grantOf({})], null],
    ['beyond the horizon', [grantOf({ limit: 5000 })], null],
    [
      'unused units are lost at expiry',
      [grantOf({}), { ...grantOf({ limit: 900 }), expires_at: NOW + 30 * DAY_MS }],
      inDays(100),
    ],
    [
      'a scheduled grant counts from its start',
      [{ ...grantOf({}), starts_at: NOW + 10 * DAY_MS }, grantOf({ limit: 200 })],
      inDays(90),
    ],
    [
      'a scheduled grant does not count if the others run out before',
      [{ ...grantOf({}), starts_at: NOW + 10 * DAY_MS }, grantOf({ limit: 50 })],
      inDays(5),
    ],
    ['a suspended grant does not count', [grantOf({ enabled: false }), grantOf({ limit: 50 })], inDays(5)],
    ['a cap pays nothing', [grantOf({ kind: 'cap', limit: 5000 }), grantOf({ limit: 50 })], inDays(5)],
    ['a cap bounds what can be sent', [grantOf({ kind: 'cap', limit: 50 }), grantOf({})], inDays(5)],
    ['a cap that is used up', [{ ...grantOf({ kind: 'cap', limit: 50 }), used: 50 }, grantOf({})], inDays(0)],
    [
      'a cap counts reserved units',
      [{ ...grantOf({ kind: 'cap', limit: 50 }), used: 10, reserved: 10 }, grantOf({})],
      inDays(3),
    ],
    [
      'the tightest of caps',
      [grantOf({ kind: 'cap', limit: 50 }), grantOf({ kind: 'cap', limit: 30 }), grantOf({})],
      inDays(3),
    ],
    ['a daily cap that suffices', [grantOf({ kind: 'cap', limit: 10, period: 'day' }), grantOf({})], inDays(70)],
    [
      'a daily cap that does not suffice',
      [grantOf({ kind: 'cap', limit: 6, period: 'day' }), grantOf({})],
      inDays(0.6),
    ],
    [
      'a daily cap that just suffices, with a day of 25 hours ahead',
      [grantOf({ kind: 'cap', limit: 10, period: 'day', time_zone: 'Europe/Berlin' }), grantOf({ limit: null })],
      null,
    ],
    [
      'a weekly cap that just suffices, with a week of 169 hours ahead',
      [grantOf({ kind: 'cap', limit: 70, period: 'week', time_zone: 'Europe/Berlin' }), grantOf({ limit: null })],
      null,
    ],
    [
      'a monthly cap with little left, but enough for its window',
      [{ ...grantOf({ kind: 'cap', limit: 310, period: 'month' }), used: 170 }, grantOf({})],
      inDays(70),
    ],
    [
      'a cap that starts later counts from then',
      [{ ...grantOf({ kind: 'cap', limit: 50 }), starts_at: NOW + 10 * DAY_MS }, grantOf({})],
      inDays(15),
    ],
    [
      'a cap that ends before it is reached',
      [{ ...grantOf({ kind: 'cap', limit: 50 }), expires_at: NOW + 4 * DAY_MS }, grantOf({})],
      inDays(70),
    ],
    [
      'a cap with a scope bounds nothing',
      [grantOf({ kind: 'cap', limit: 5, countries: ['DE'] }), grantOf({})],
      inDays(70),
    ],
    ['a suspended cap bounds nothing', [grantOf({ kind: 'cap', limit: 5, enabled: false }), grantOf({})], inDays(70)],
    ['an unlimited grant under a cap', [grantOf({ kind: 'cap', limit: 50 }), grantOf({ limit: null })], inDays(5)],
    ['an unlimited grant that ends', [{ ...grantOf({ limit: null }), expires_at: NOW + 4 * DAY_MS }], inDays(4)],
    ['overage can be sent, too', [grantOf({ overage_limit: 100 })], inDays(80)],
    ['a grant with a scope pays for anything', [grantOf({ countries: ['DE'] })], inDays(70)],
    ['a daily grant that suffices', [grantOf({ limit: 10, period: 'day' })], null],
    [
      'a monthly grant that suffices with little left',
      [{ ...grantOf({ limit: 310, period: 'month' }), used: 170 }],
      null,
    ],
    ['a monthly grant that does not suffice', [{ ...grantOf({ limit: 310, period: 'month' }), used: 300 }], inDays(1)],
    [
      'a pack that ends on day ten, beside an hourly grant that does not suffice',
      [grantOf({ limit: 0, period: 'hour' }), { ...grantOf({}), expires_at: NOW + 10 * DAY_MS }],
      inDays(10),
    ],
    [
      'a pack that ends after eleven months, beside an hourly grant',
      [grantOf({ limit: 0, period: 'hour' }), { ...grantOf({ limit: 9_000 }), expires_at: NOW + 335 * DAY_MS }],
      inDays(335),
    ],
    ['an hourly grant that suffices', [grantOf({ limit: 1, period: 'hour' })], null],
    ['just within the horizon', [grantOf({ limit: 3_659 })], inDays(365.9)],
    ['just beyond the horizon', [grantOf({ limit: 3_660 })], null],
    ['a monthly grant that does not suffice next month', [grantOf({ limit: 150, period: 'month' })], inDays(14 + 15)],
  ]
  test.each(cases)('%s', (_what, quotas, end) => {
    expect(forecast(quotas, steady, NOW)?.runs_out_at).toBe(end)
  })

  test('of the units leaves caps out', () => {
    const quotas = [grantOf({ kind: 'cap', limit: 6, period: 'day' }), grantOf({})]
    expect(forecast(quotas, steady, NOW)).toMatchObject({ runs_out_at: inDays(0.6), units_run_out_at: inDays(70) })
  })

  test('is null without use', () => {
    expect(
      forecast(
        [grantOf({})],
        past(() => 0),
        NOW,
      ),
    ).toEqual({ daily_rate: 0, runs_out_at: null, units_run_out_at: null })
  })

  test('is no later with more use and no earlier with more units', () => {
    const quota = fc
      .record({ limit: fc.integer({ min: 1, max: 500 }), period: fc.constantFrom(null, 'day', 'week', 'month') })
      .map(grantOf)
    const endOf = (quotas: Quota[], rate: number) =>
      Date.parse(
        forecast(
          quotas,
          past(() => rate),
          NOW,
        )?.runs_out_at ?? '9999-01-01T00:00:00Z',
      )
    const arbitrary = [fc.array(quota, { maxLength: 3 }), quota, fc.integer({ min: 1, max: 90 })] as const
    fc.assert(
      fc.property(...arbitrary, (quotas, another, rate) => {
        expect(endOf(quotas, rate + 1)).toBeLessThanOrEqual(endOf(quotas, rate))
        expect(endOf([...quotas, another], rate)).toBeGreaterThanOrEqual(endOf(quotas, rate))
      }),
      { numRuns: runs(50) },
    )
  })
})
