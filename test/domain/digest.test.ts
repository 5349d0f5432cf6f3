import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LONGEST_WAIT_MS } from '../../src/domain/time/backoff.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time/time.ts'
import { dueAt } from '../../src/domain/webhooks/digest.ts'
import { clockAt } from './naive-windows.ts'

test.each([
  ['without a digest at once', null, '2026-03-15T12:00:00.001Z', '2026-03-15T12:00:00.001Z'],
  ['before the hour', 9, '2026-03-15T07:59:59.999Z', '2026-03-15T08:00:00.000Z'],
  ['at the hour', 9, '2026-03-15T08:00:00.000Z', '2026-03-16T08:00:00.000Z'],
  ['on the eve of a day of 23 hours', 9, '2026-03-28T12:00:00.000Z', '2026-03-29T07:00:00.000Z'],
  ['before an hour that the clocks skip', 2, '2026-03-28T12:00:00.000Z', '2026-03-29T01:00:00.000Z'],
  ['after the first of two hours', 2, '2026-10-25T00:00:00.000Z', '2026-10-26T01:00:00.000Z'],
  ['at midnight', 0, '2026-03-15T12:00:00.000Z', '2026-03-15T23:00:00.000Z'],
] as const)('%s', (_, hour, now, due) => {
  const digest = hour === null ? null : { hour, time_zone: 'Europe/Berlin' }
  expect(new Date(dueAt(digest, Date.parse(now))).toISOString()).toBe(due)
})

/** Zones with timestamps near an unusual change of their clocks. */
const CLOCKS: Record<string, string> = {
  'America/Havana': '2025-11-02T05:00Z',
  'America/St_Johns': '2009-11-01T02:31Z',
  'Antarctica/Troll': '2026-03-29T01:00Z',
  'Asia/Kathmandu': '2026-01-01T00:00Z',
  'Atlantic/Azores': '2025-03-30T01:00Z',
  'Australia/Lord_Howe': '2026-10-03T15:30Z',
  'Europe/Berlin': '2026-10-25T01:00Z',
  'Pacific/Apia': '2011-12-30T10:00Z',
  'Pacific/Chatham': '2026-04-04T14:00Z',
}
const anyCase = fc.record({
  clock: fc.constantFrom(...Object.entries(CLOCKS)),
  hour: fc.integer({ min: 0, max: 23 }),
  apart: fc.oneof(
    fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
    fc.integer({ min: -365 * DAY_MS, max: 365 * DAY_MS }),
  ),
})
/** The clocks of zones change by whole quarters of an hour, and an hour begins at one. */
const QUARTER = 15 * MINUTE_MS

test('it is the first time on its date at which the clocks show the hour, or have skipped it, in any zone', () => {
  fc.assert(
    fc.property(anyCase, ({ clock: [zone, change], hour, apart }) => {
      const now = Date.parse(change) + apart
      const due = dueAt({ hour, time_zone: zone }, now)
      const shows = (at: number) => clockAt(zone, at)
      const isAgain = (at: number) =>
        Array.from({ length: 12 }, (_, n) => at - (n + 1) * QUARTER).some(earlier => shows(earlier) === shows(at))
      expect(due).toBeGreaterThan(now)
      expect(due - now).toBeLessThan(LONGEST_WAIT_MS)
      for (let at = now - (now % QUARTER) + QUARTER; at < due; at += QUARTER)
        if (shows(at) % DAY_MS === hour * HOUR_MS) expect(isAgain(at), new Date(at).toISOString()).toBe(true)
      const late = (shows(due) % DAY_MS) - hour * HOUR_MS
      const isSkipped = late > 0 && late <= 2 * HOUR_MS && shows(due) - shows(due - 2 * late) > 2 * late
      expect(late === 0 ? !isAgain(due) : isSkipped, new Date(due).toISOString()).toBe(true)
    }),
  )
})
