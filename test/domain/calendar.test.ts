import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundariesAhead, CALENDAR_MS } from '../../src/domain/time/calendar.ts'
import { type Calendar, COMMON_PERIODS, plainCalendar } from '../../src/domain/time/period.ts'
import { DAY_MS } from '../../src/domain/time/time.ts'
import { nextBoundary } from '../../src/domain/time/window.ts'
import { runs } from '../support/runs.ts'

/** Years in which these zones changed their clocks in unusual ways, and zones without any change. */
const PLACES: [timeZone: string, year: string][] = [
  ['UTC', '2026'],
  ['Africa/Cairo', '2023'],
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
  ['Asia/Tehran', '2022'],
  ['Australia/Lord_Howe', '2026'],
  ['Europe/Berlin', '2026'],
  ['Pacific/Apia', '2011'],
  ['Pacific/Chatham', '2026'],
  ['Pacific/Kiritimati', '1994'],
  ['Pacific/Kwajalein', '1993'],
  ['Pacific/Pago_Pago', '9998'],
]

/** The boundaries one by one, as the windows of quotas find them. */
function oneByOne(calendar: Calendar, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = nextBoundary(calendar, from); at <= to; at = nextBoundary(calendar, at)) found.push(at)
  return found
}

/** Calendars of dates, with anchors that months and years lack. */
const calendarsIn = (time_zone: string): Calendar[] => [
  ...COMMON_PERIODS.filter(one => one !== 'hour').map(period => plainCalendar(period, time_zone)),
  ...['1', '15', '28', '29', '30', '31'].map(anchor => ({ period: 'month' as const, anchor, time_zone })),
  ...['01-01', '02-29', '04-01', '12-30', '12-31'].map(anchor => ({ period: 'year' as const, anchor, time_zone })),
]

test.each(PLACES)('%s in %s has the boundaries of its windows', (timeZone, year) => {
  const from = Date.parse(`${year}-01-01T00:00:00Z`)
  for (const calendar of calendarsIn(timeZone)) {
    const found = boundariesAhead(calendar, from)
    expect({ calendar, found: [...found] }).toEqual({
      calendar,
      found: oneByOne(calendar, from, from + CALENDAR_MS),
    })
  }
  // Hours near every change: all hours of a year would take a second for each zone.
  const hours = boundariesAhead(plainCalendar('hour', timeZone), from)
  const days = boundariesAhead(plainCalendar('day', timeZone), from)
  const isUnusual = (day: number, index: number) => ((days[index + 1] ?? day) - day) % DAY_MS !== 0
  const near = days.map((day, index) => (isUnusual(day, index) || index === 0 ? day : Number.NaN))
  for (const day of near.filter(Number.isFinite)) {
    const [start, end] = [day - 2 * DAY_MS, Math.min(day + 4 * DAY_MS, from + CALENDAR_MS)]
    const found = [...hours].filter(hour => hour > Math.max(start, from) && hour <= end)
    expect(found).toEqual(oneByOne(plainCalendar('hour', timeZone), Math.max(start, from), end))
  }
})

test('minutes are those of windows, in zones that are no whole hours away, too', () => {
  const minutes = plainCalendar('minute', 'Asia/Kathmandu')
  const from = Date.parse('1985-12-31T00:00:00Z')
  // As text: to compare half a million numbers one by one takes a second.
  expect(boundariesAhead(minutes, from).join()).toBe(oneByOne(minutes, from, from + CALENDAR_MS).join())
})

test('boundaries begin after the day of now begins, at any time of the day', () => {
  const anyPlace = fc.record({
    timeZone: fc.constantFrom(...PLACES.map(([timeZone]) => timeZone)),
    now: fc.integer({ min: 0, max: Date.parse('2060-01-01') }),
    which: fc.nat(),
  })
  fc.assert(
    fc.property(anyPlace, ({ timeZone, now, which }) => {
      const small = (['minute', 'hour'] as const).map(period => plainCalendar(period, timeZone))
      const calendars = [...small, ...calendarsIn(timeZone)]
      const calendar = calendars[which % calendars.length] ?? plainCalendar('hour', timeZone)
      const next = boundariesAhead(calendar, now).find(boundary => boundary > now)
      expect(next).toBe(nextBoundary(calendar, now))
    }),
    { numRuns: runs(200) },
  )
})

test('zones with the same boundaries share them, and anchors do not', () => {
  const now = Date.parse('2026-03-18T12:00:00Z')
  const [berlin, paris] = [plainCalendar('day', 'Europe/Berlin'), plainCalendar('day', 'Europe/Paris')]
  expect(boundariesAhead(paris, now)).toBe(boundariesAhead(berlin, now))
  const [utc, hours] = [plainCalendar('hour', 'UTC'), plainCalendar('hour', 'Europe/Berlin')]
  expect(boundariesAhead(hours, now)).toBe(boundariesAhead(utc, now))
  expect(boundariesAhead(plainCalendar('hour', 'Asia/Kolkata'), now)).not.toBe(boundariesAhead(utc, now))
  expect(boundariesAhead(utc, now + DAY_MS)).not.toBe(boundariesAhead(utc, now))
  const month = plainCalendar('month', 'Europe/Berlin')
  const anchored = (timeZone: string) => boundariesAhead({ ...month, time_zone: timeZone, anchor: '15' }, now)
  expect(anchored('Europe/Paris')).toBe(anchored('Europe/Berlin'))
  expect(anchored('Europe/Berlin')).not.toBe(boundariesAhead(month, now))
})
