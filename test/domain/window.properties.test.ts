import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PERIODS, type Period } from '../../src/domain/period.ts'
import { HOUR_MS } from '../../src/domain/time.ts'
import { boundariesBetween, lastBoundary, nextBoundary } from '../../src/domain/window.ts'
import { clockAt, naiveBoundaries } from './naive-windows.ts'

const DAY = 24 * HOUR_MS

/** Zones, each with timestamps near an unusual change of its clock. */
const CLOCKS: Record<string, string[]> = {
  UTC: [],
  'Africa/Casablanca': ['2026-02-15T02:00Z', '2026-03-22T02:00Z'],
  'Africa/Monrovia': ['1972-01-07T00:44:30Z'],
  'America/Havana': ['2025-03-09T05:00Z', '2025-11-02T05:00Z'],
  'America/Sao_Paulo': ['2018-11-04T03:00Z', '2019-02-17T02:00Z'],
  'America/St_Johns': ['1988-04-03T03:31Z', '1988-10-30T01:31Z', '2009-11-01T02:31Z'],
  'Antarctica/Casey': ['2020-10-03T16:01Z'],
  'Antarctica/Troll': ['2026-03-29T01:00Z', '2026-10-25T01:00Z'],
  'Asia/Beirut': ['2025-03-29T22:00Z', '2025-10-25T21:00Z'],
  'Asia/Kathmandu': ['1985-12-31T18:30Z'],
  'Asia/Kolkata': [],
  'Asia/Pyongyang': ['2015-08-14T15:00Z', '2018-05-04T15:00Z'],
  'Atlantic/Azores': ['2025-03-30T01:00Z', '2025-10-26T01:00Z'],
  'Australia/Lord_Howe': ['2026-04-04T15:00Z', '2026-10-03T15:30Z'],
  'Europe/Berlin': ['2026-03-29T01:00Z', '2026-10-25T01:00Z'],
  'Pacific/Apia': ['2011-12-30T10:00Z', '2012-03-31T14:00Z'],
  'Pacific/Chatham': ['2026-04-04T14:00Z', '2026-09-26T14:00Z'],
  'Pacific/Kiritimati': ['1979-10-01T10:40Z', '1994-12-31T10:00Z'],
  'Pacific/Kwajalein': ['1993-08-21T12:00Z'],
  'Pacific/Pago_Pago': [],
}

const someTime = fc.integer({ min: 0, max: Date.parse('2050-01-01') })
const anyTime = fc.oneof(someTime, fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') }))
const anyPeriod = fc.constantFrom(...PERIODS)

/** A zone and a timestamp; half of the timestamps are near a change of its clock. */
const anyPlace = fc.constantFrom(...Object.entries(CLOCKS)).chain(([timeZone, changes]) => {
  const nearChange = fc
    .tuple(fc.constantFrom('2026-01-01T00:00Z', ...changes), fc.integer({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }))
    .map(([change, apart]) => Date.parse(change) + apart)
  return fc.record({ timeZone: fc.constant(timeZone), at: fc.oneof(anyTime, nearChange) })
})

/** The boundaries in (`from`, `to`], one by one. */
function walked(period: Period, timeZone: string, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = nextBoundary(period, timeZone, from); at <= to; at = nextBoundary(period, timeZone, at)) found.push(at)
  return found
}

describe('windows', () => {
  test('partition time: every timestamp is in one, and each begins where the previous one ends', () => {
    fc.assert(
      fc.property(anyPeriod, anyPlace, (period, { timeZone, at }) => {
        const start = lastBoundary(period, timeZone, at)
        const end = nextBoundary(period, timeZone, at)
        expect(start).toBeLessThanOrEqual(at)
        expect(end).toBeGreaterThan(at)
        expect(lastBoundary(period, timeZone, end)).toBe(end)
        expect(lastBoundary(period, timeZone, end - 1)).toBe(start)
        expect(nextBoundary(period, timeZone, start)).toBe(end)
        expect(nextBoundary(period, timeZone, start - 1)).toBe(start)
      }),
      { numRuns: 1500 },
    )
  })

  test('keep the order of timestamps', () => {
    fc.assert(
      fc.property(anyPeriod, anyPlace, fc.nat(2 * DAY), (period, { timeZone, at }, later) => {
        expect(nextBoundary(period, timeZone, at + later)).toBeGreaterThanOrEqual(nextBoundary(period, timeZone, at))
        expect(lastBoundary(period, timeZone, at + later)).toBeGreaterThanOrEqual(lastBoundary(period, timeZone, at))
      }),
      { numRuns: 1000 },
    )
  })

  test('nest: a year begins with a month, a month with a day, a week with a day', () => {
    fc.assert(
      fc.property(anyPlace, ({ timeZone, at }) => {
        const [day, week, month, year] = (['day', 'week', 'month', 'year'] as const).map(period => {
          return nextBoundary(period, timeZone, at)
        })
        expect(lastBoundary('month', timeZone, year ?? 0)).toBe(year)
        expect(lastBoundary('day', timeZone, month ?? 0)).toBe(month)
        expect(lastBoundary('day', timeZone, week ?? 0)).toBe(week)
        expect(Math.max(day ?? 0, month ?? 0)).toBe(month)
      }),
      { numRuns: 500 },
    )
  })
})

describe('boundariesBetween', () => {
  test('equals the number of boundaries found one by one', () => {
    fc.assert(
      fc.property(anyPeriod, anyPlace, fc.nat(200 * HOUR_MS), (period, { timeZone, at }, stretch) => {
        const to = at + (period === 'hour' ? stretch : 20 * stretch)
        expect(boundariesBetween(period, timeZone, at, to)).toBe(walked(period, timeZone, at, to).length)
      }),
      { numRuns: 300 },
    )
  })

  test('adds up over decades', () => {
    const threeTimes = fc.tuple(someTime, someTime, someTime).map(times => times.sort((one, other) => one - other))
    fc.assert(
      fc.property(anyPeriod, fc.constantFrom(...Object.keys(CLOCKS)), threeTimes, (period, timeZone, times) => {
        const [from = 0, middle = 0, to = 0] = times
        const parts =
          boundariesBetween(period, timeZone, from, middle) + boundariesBetween(period, timeZone, middle, to)
        expect(boundariesBetween(period, timeZone, from, to)).toBe(parts)
      }),
      { numRuns: 300 },
    )
  })
})

describe('agrees with a naive model that reads the clock second by second', () => {
  test.each([
    ['hour', 20 * HOUR_MS, 100],
    ['day', 4 * DAY, 100],
    ['week', 20 * DAY, 100],
    ['month', 70 * DAY, 60],
    ['year', 500 * DAY, 20],
  ] as const)('every %s begins when it should', (period, stretch, numRuns) => {
    fc.assert(
      fc.property(anyPlace, fc.nat(stretch), ({ timeZone, at }, before) => {
        const from = Math.max(0, at - before)
        const to = from + stretch
        const seen = naiveBoundaries(period, timeZone, from, to)
        expect(walked(period, timeZone, from, to)).toEqual(seen)
        expect(boundariesBetween(period, timeZone, from, to)).toBe(seen.length)
      }),
      { numRuns },
    )
  })

  test.each(
    Object.entries(CLOCKS).flatMap(([timeZone, changes]) => changes.map(change => [timeZone, change] as const)),
  )('in %s around %s', (timeZone, change) => {
    const at = Date.parse(change)
    expect(clockAt(timeZone, at) - clockAt(timeZone, at - 1000)).not.toBe(1000)
    for (const period of PERIODS) {
      const from = at - 1.5 * DAY
      const to = at + 1.5 * DAY
      expect(walked(period, timeZone, from, to)).toEqual(naiveBoundaries(period, timeZone, from, to))
    }
  })
})
