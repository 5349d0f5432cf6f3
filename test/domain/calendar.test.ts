import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundariesAhead, CALENDAR_MS } from '../../src/domain/calendar.ts'
import { PERIODS, type Period } from '../../src/domain/period.ts'
import { DAY_MS } from '../../src/domain/time.ts'
import { nextBoundary } from '../../src/domain/window.ts'

/** Years in which these zones changed their clocks in unusual ways, and zones without any change. */
const PLACES: [timeZone: string, year: string][] = [
  ['UTC', '2026'],
  ['Africa/Casablanca', '2026'],
  ['Africa/Monrovia', '1972'],
  ['America/Caracas', '2007'],
  ['America/Havana', '2025'],
  ['America/Sao_Paulo', '2018'],
  ['America/St_Johns', '1988'],
  ['America/St_Johns', '2006'],
  ['Antarctica/Casey', '2020'],
  ['Antarctica/Troll', '2026'],
  ['Asia/Beirut', '2025'],
  ['Asia/Kathmandu', '1985'],
  ['Asia/Kolkata', '2026'],
  ['Asia/Pyongyang', '2018'],
  ['Australia/Lord_Howe', '2026'],
  ['Europe/Berlin', '2026'],
  ['Pacific/Apia', '2011'],
  ['Pacific/Chatham', '2026'],
  ['Pacific/Kiritimati', '1994'],
  ['Pacific/Kwajalein', '1993'],
  ['Pacific/Pago_Pago', '9998'],
]

/** The boundaries one by one, as the windows of quotas find them. */
function oneByOne(period: Period, timeZone: string, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = nextBoundary(period, timeZone, from); at <= to; at = nextBoundary(period, timeZone, at)) found.push(at)
  return found
}

test.each(PLACES)('%s in %s has the boundaries of its windows', (timeZone, year) => {
  const from = Date.parse(`${year}-01-01T00:00:00Z`)
  for (const period of PERIODS.filter(one => one !== 'hour')) {
    const found = boundariesAhead(period, timeZone, from)
    expect({ period, found: [...found] }).toEqual({
      period,
      found: oneByOne(period, timeZone, from, from + CALENDAR_MS),
    })
  }
  // Hours near every change: all hours of a year would take a second for each zone.
  const hours = boundariesAhead('hour', timeZone, from)
  const days = boundariesAhead('day', timeZone, from)
  const isUnusual = (day: number, index: number) => ((days[index + 1] ?? day) - day) % DAY_MS !== 0
  const near = days.map((day, index) => (isUnusual(day, index) || index === 0 ? day : Number.NaN))
  for (const day of near.filter(Number.isFinite)) {
    const [start, end] = [day - 2 * DAY_MS, Math.min(day + 4 * DAY_MS, from + CALENDAR_MS)]
    const found = [...hours].filter(hour => hour > Math.max(start, from) && hour <= end)
    expect(found).toEqual(oneByOne('hour', timeZone, Math.max(start, from), end))
  }
})

test('boundaries begin after the day of now begins, at any time of the day', () => {
  const anyPlace = fc.record({
    timeZone: fc.constantFrom(...PLACES.map(([timeZone]) => timeZone)),
    now: fc.integer({ min: 0, max: Date.parse('2060-01-01') }),
    period: fc.constantFrom(...PERIODS),
  })
  fc.assert(
    fc.property(anyPlace, ({ timeZone, now, period }) => {
      const next = boundariesAhead(period, timeZone, now).find(boundary => boundary > now)
      expect(next).toBe(nextBoundary(period, timeZone, now))
    }),
    { numRuns: 100 },
  )
})

test('zones with the same boundaries share them', () => {
  const now = Date.parse('2026-03-18T12:00:00Z')
  expect(boundariesAhead('day', 'Europe/Paris', now)).toBe(boundariesAhead('day', 'Europe/Berlin', now))
  expect(boundariesAhead('hour', 'Europe/Berlin', now)).toBe(boundariesAhead('hour', 'UTC', now))
  expect(boundariesAhead('hour', 'Asia/Kolkata', now)).not.toBe(boundariesAhead('hour', 'UTC', now))
  expect(boundariesAhead('hour', 'UTC', now + DAY_MS)).not.toBe(boundariesAhead('hour', 'UTC', now))
})
