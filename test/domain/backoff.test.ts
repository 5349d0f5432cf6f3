import { expect, test } from 'vitest'
import { LONGEST_WAIT_MS, nextAttemptAt, retryAfterMs } from '../../src/domain/time/backoff.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time/time.ts'

const [SECOND, HOUR, DAY] = [1_000, HOUR_MS, DAY_MS]

test.each([
  // failures, now, chance → delay
  [1, 0, 0.5, 5 * SECOND],
  [2, 5 * SECOND, 0.5, 20 * SECOND],
  [3, 25 * SECOND, 0.5, 80 * SECOND],
  [4, 105 * SECOND, 0.5, 320 * SECOND],
  [5, 425 * SECOND, 0.5, 1_280 * SECOND],
  [6, 1_705 * SECOND, 0.5, 5_120 * SECOND],
  [7, 2 * HOUR, 0.5, 4 * HOUR],
  [500, 2 * HOUR, 0.5, 4 * HOUR],
  [1, 0, 0, 4 * SECOND],
  [1, 0, 1, 6 * SECOND],
  // The last attempt is at the end of the third day.
  [20, 3 * DAY - HOUR, 0.5, HOUR],
  [20, 3 * DAY - 1, 0, 1],
])('%i failures in %i ms, chance %f: the next attempt is after %i ms', (failures, since, chance, delay) => {
  const began = Date.parse('2026-03-15T12:00:00.000Z')
  expect(nextAttemptAt(failures, began, began + since, chance)).toBe(began + since + delay)
})

test.each([
  // failures, now, chance, asked → delay
  [1, 0, 0, HOUR, HOUR],
  [1, 0, 1, HOUR, HOUR + 5 * SECOND],
  [1, 0, 0, SECOND, 4 * SECOND],
  [7, 2 * HOUR, 0.5, HOUR, 4 * HOUR],
  [1, 0, 0, 2 * DAY, DAY],
  [1, 0, 0, Number.POSITIVE_INFINITY, DAY],
  [1, 0, 0, 0, 4 * SECOND],
  [9, 3 * DAY - HOUR, 0, 5 * HOUR, HOUR],
])('%i failures in %i ms, chance %f, asked to wait %i ms: after %i ms', (failures, since, chance, asked, delay) => {
  const began = Date.parse('2026-03-15T12:00:00.000Z')
  expect(nextAttemptAt(failures, began, began + since, chance, asked)).toBe(began + since + delay)
  expect(delay).toBeLessThan(LONGEST_WAIT_MS)
})

test.each<[string, number]>([
  ['120', 120_000],
  [' 0 ', 0],
  ['1.5', 1_500],
  ['99999999999999999999', 1e23],
  ['Sun, 15 Mar 2026 12:01:00 GMT', 60_000],
  ['Sunday, 15-Mar-26 12:01:00 GMT', 60_000],
  ['Sun, 15 Mar 2026 11:00:00 GMT', 0],
  // The oldest form, which names no zone and means GMT.
  ['Sun Mar 15 12:01:00 2026', 60_000],
  ['Mon Mar 16 12:00:00 2026', 86_400_000],
  ['Wed Apr  1 12:00:00 2026', 17 * 86_400_000],
  ['Sun Mar 15 11:59:00 2026', 0],
  // Libraries for mail write dates of HTTP so.
  ['Sun, 15 Mar 2026 12:01:00 +0000', 60_000],
  ['Sun, 15 Mar 2026 12:01:00 -0000', 60_000],
  ['Sun, 15 Mar 2026 14:01:00 +0200', 60_000],
  ['Sun, 15 Mar 2026 12:01:00 UTC', 60_000],
  ['Sun, 15 Mar 2026 12:01:00', 0],
  ['Sun, 15 Mar 2026 12:01:00 EST', 0],
  ['15 Mar 2026 12:01:00 GMT', 0],
  ['1773576060', 1_773_576_060_000],
  ['120 ', 120_000],
  ['+120', 0],
  ['0x10', 0],
  ['120s', 0],
  ['120, 60', 0],
  ['１２０', 0],
  ['2026-03-15T12:01:00Z', 0],
  ['-1', 0],
  ['1e9', 0],
  ['soon', 0],
  ['', 0],
])('Retry-After: %j asks for %i ms', (header, ms) => {
  expect(retryAfterMs(header, Date.parse('2026-03-15T12:00:00.000Z'))).toBe(ms)
})

test.each([3 * DAY, 4 * DAY])('there is no attempt after three days: %i ms', since => {
  expect(nextAttemptAt(20, 1_000, 1_000 + since, 0.5)).toBeNull()
})
