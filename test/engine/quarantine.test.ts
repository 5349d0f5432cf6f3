import { expect, test } from 'vitest'
import { createQuarantine } from '../../src/engine/quarantine.ts'

test('of more difficult users than it has room for, those are forgotten that had a difficulty longest ago', () => {
  const { add, difficultyOf } = createQuarantine()
  for (let user = 0; user < 10_000; user++) add([user], 'contended')
  add([0], 'locked')
  add([10_000], 'contended')
  expect([0, 1, 2, 10_000].map(difficultyOf)).toEqual(['locked', undefined, 'contended', 'contended'])
})
