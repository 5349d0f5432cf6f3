import { expect, test } from 'vitest'
import { axisTicks } from '../../console/src/model/usage-chart.ts'

test.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [140, [0, 50, 100, 150]],
  [3_400, [0, 1_000, 2_000, 3_000, 4_000]],
  [10.5, [0, 5, 10, 15]],
])('the axis of a chart up to %d has round steps', (max, ticks) => {
  expect(axisTicks(max)).toEqual(ticks)
})
