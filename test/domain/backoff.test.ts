import { expect, test } from 'vitest'
import { nextAttemptAt } from '../../src/domain/backoff.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts'

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

test.each([3 * DAY, 4 * DAY])('there is no attempt after three days: %i ms', since => {
  expect(nextAttemptAt(20, 1_000, 1_000 + since, 0.5)).toBeNull()
})
