import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Calendar, PERIODS, type Period, plainCalendar } from '../../src/domain/time/period.ts'
import { HOUR_MS } from '../../src/domain/time/time.ts'
import { boundariesBetween, lastBoundary, nextBoundary } from '../../src/domain/time/window.ts'
import { runs } from '../support/runs.ts'
import { MONTH_ANCHORS, YEAR_ANCHORS } from './any-anchor.ts'
import { clockAt, naiveBoundaries } from './naive-windows.ts'

const DAY = 24 * HOUR_MS

/** Zones, each with timestamps near an unusual change of its clock. */
const CLOCKS: Record<string, string[]> = {
  UTC: [],
  'Africa/Cairo': ['2023-04-27T22:00Z', '2023-10-26T21:00Z'],
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
  'Asia/Tehran': ['2022-03-21T20:30Z', '2022-09-21T19:30Z'],
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
type Rhythm = Omit<Calendar, 'time_zone'>
const anchored = (period: Period, anchors: readonly string[]) =>
  fc.constantFrom(...anchors).map((anchor): Rhythm => ({ period, anchor }))
const anyMonth = fc.oneof(anchored('month', MONTH_ANCHORS), anchored('month', ['28', '29', '30', '31']))
const anyYear = fc.oneof(anchored('year', YEAR_ANCHORS), anchored('year', ['02-28', '02-29', '03-01']))
/** A period, with an anchor in half of the cases. */
const anyRhythm: fc.Arbitrary<Rhythm> = fc.oneof(
  fc.constantFrom(...PERIODS).map(period => ({ period, anchor: null })),
  fc.oneof(anyMonth, anyYear),
)

/** A zone and a timestamp; half of the timestamps are near a change of its clock. */
const anyPlace = fc.constantFrom(...Object.entries(CLOCKS)).chain(([timeZone, changes]) => {
  const nearChange = fc
    .tuple(fc.constantFrom('2026-01-01T00:00Z', ...changes), fc.integer({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }))
    .map(([change, apart]) => Date.parse(change) + apart)
  return fc.record({ timeZone: fc.constant(timeZone), at: fc.oneof(anyTime, nearChange) })
})

/** A calendar, and a time in it. */
const anyCalendar = fc
  .tuple(anyRhythm, anyPlace)
  .map(([rhythm, { timeZone, at }]) => ({ calendar: { ...rhythm, time_zone: timeZone }, at }))

/** The boundaries in (`from`, `to`], one by one. */
function walked(calendar: Calendar, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = nextBoundary(calendar, from); at <= to; at = nextBoundary(calendar, at)) found.push(at)
  return found
}

describe('windows', () => {
  test('partition time: every timestamp is in one, and each begins where the previous one ends', () => {
    fc.assert(
      fc.property(anyCalendar, ({ calendar, at }) => {
        const start = lastBoundary(calendar, at)
        const end = nextBoundary(calendar, at)
        expect(start).toBeLessThanOrEqual(at)
        expect(end).toBeGreaterThan(at)
        expect(lastBoundary(calendar, end)).toBe(end)
        expect(lastBoundary(calendar, end - 1)).toBe(start)
        expect(nextBoundary(calendar, start)).toBe(end)
        expect(nextBoundary(calendar, start - 1)).toBe(start)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('keep the order of timestamps', () => {
    fc.assert(
      fc.property(anyCalendar, fc.nat(2 * DAY), ({ calendar, at }, later) => {
        expect(nextBoundary(calendar, at + later)).toBeGreaterThanOrEqual(nextBoundary(calendar, at))
        expect(lastBoundary(calendar, at + later)).toBeGreaterThanOrEqual(lastBoundary(calendar, at))
      }),
      { numRuns: runs(1000) },
    )
  })

  test('with an anchor begin with a day, on its date or on the last day of a month that is shorter', () => {
    fc.assert(
      fc.property(fc.oneof(anyMonth, anyYear), anyPlace, (rhythm, { timeZone, at }) => {
        const start = nextBoundary({ ...rhythm, time_zone: timeZone }, at)
        expect(lastBoundary(plainCalendar('day', timeZone), start)).toBe(start)
        const [day = 0, month = 0] = (rhythm.anchor ?? '').split('-').map(Number).reverse()
        const begins = new Date(clockAt(timeZone, start))
        const days = new Date(Date.UTC(begins.getUTCFullYear(), begins.getUTCMonth() + 1, 0)).getUTCDate()
        const isSkipped = clockAt(timeZone, start) - clockAt(timeZone, start - 1000) > 0.9 * DAY
        if (isSkipped) return
        if (rhythm.period === 'year') expect(begins.getUTCMonth() + 1).toBe(month)
        expect(begins.getUTCDate()).toBe(Math.min(day, days))
      }),
      { numRuns: runs(1000) },
    )
  })

  test('without an anchor are those of "1" and "01-01"', () => {
    fc.assert(
      fc.property(anyPlace, ({ timeZone, at }) => {
        for (const [period, anchor] of [
          ['month', '1'],
          ['year', '01-01'],
        ] as const) {
          const next = nextBoundary({ period, anchor, time_zone: timeZone }, at)
          expect(next).toBe(nextBoundary(plainCalendar(period, timeZone), at))
        }
      }),
      { numRuns: runs(200) },
    )
  })

  test('nest: a year begins with a month, a month with a day, a week with a day', () => {
    fc.assert(
      fc.property(anyPlace, ({ timeZone, at }) => {
        const [day, week, month, year] = (['day', 'week', 'month', 'year'] as const).map(period => {
          return nextBoundary(plainCalendar(period, timeZone), at)
        })
        expect(lastBoundary(plainCalendar('month', timeZone), year ?? 0)).toBe(year)
        expect(lastBoundary(plainCalendar('day', timeZone), month ?? 0)).toBe(month)
        expect(lastBoundary(plainCalendar('day', timeZone), week ?? 0)).toBe(week)
        expect(Math.max(day ?? 0, month ?? 0)).toBe(month)
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('boundariesBetween', () => {
  test('equals the number of boundaries found one by one', () => {
    fc.assert(
      fc.property(anyCalendar, fc.nat(200 * HOUR_MS), ({ calendar, at }, stretch) => {
        const to = at + (calendar.period === 'hour' ? stretch : 20 * stretch)
        expect(boundariesBetween(calendar, at, to)).toBe(walked(calendar, at, to).length)
      }),
      { numRuns: runs(300) },
    )
  })

  test('adds up over decades', () => {
    const threeTimes = fc.tuple(someTime, someTime, someTime).map(times => times.sort((one, other) => one - other))
    fc.assert(
      fc.property(anyRhythm, fc.constantFrom(...Object.keys(CLOCKS)), threeTimes, (rhythm, timeZone, times) => {
        const calendar = { ...rhythm, time_zone: timeZone }
        const [from = 0, middle = 0, to = 0] = times
        const parts = boundariesBetween(calendar, from, middle) + boundariesBetween(calendar, middle, to)
        expect(boundariesBetween(calendar, from, to)).toBe(parts)
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('agrees with a naive model that reads the clock second by second', () => {
  test.each([
    ['hour', fc.constant({ period: 'hour', anchor: null }), 20 * HOUR_MS, 100],
    ['day', fc.constant({ period: 'day', anchor: null }), 4 * DAY, 100],
    ['week', fc.constant({ period: 'week', anchor: null }), 20 * DAY, 100],
    ['month', fc.constant({ period: 'month', anchor: null }), 70 * DAY, 60],
    ['year', fc.constant({ period: 'year', anchor: null }), 500 * DAY, 20],
    ['month with an anchor', anyMonth, 70 * DAY, 150],
    ['year with an anchor', anyYear, 800 * DAY, 60],
  ] satisfies [string, fc.Arbitrary<Rhythm>, number, number][])(
    'every %s begins when it should',
    (_, kind, stretch, numRuns) => {
      fc.assert(
        fc.property(kind, anyPlace, fc.nat(stretch), (rhythm, { timeZone, at }, before) => {
          const calendar = { ...rhythm, time_zone: timeZone }
          const from = Math.max(0, at - before)
          const to = from + stretch
          const seen = naiveBoundaries(calendar, from, to)
          expect(walked(calendar, from, to)).toEqual(seen)
          expect(boundariesBetween(calendar, from, to)).toBe(seen.length)
        }),
        { numRuns: runs(numRuns) },
      )
    },
  )

  test.each(
    Object.entries(CLOCKS).flatMap(([timeZone, changes]) => changes.map(change => [timeZone, change] as const)),
  )('in %s around %s', (timeZone, change) => {
    const at = Date.parse(change)
    expect(clockAt(timeZone, at) - clockAt(timeZone, at - 1000)).not.toBe(1000)
    const dates = [-1, 0, 1].map(apart => new Date(clockAt(timeZone, at + apart * DAY)).toISOString().slice(5, 10))
    const calendars = [
      ...PERIODS.map(period => plainCalendar(period, timeZone)),
      ...dates.map(anchor => ({ period: 'year' as const, anchor, time_zone: timeZone })),
      ...dates.map(date => ({ period: 'month' as const, anchor: String(Number(date.slice(3))), time_zone: timeZone })),
    ]
    for (const calendar of calendars) {
      const from = at - 1.5 * DAY
      const to = at + 1.5 * DAY
      expect(walked(calendar, from, to)).toEqual(naiveBoundaries(calendar, from, to))
    }
  })
})
