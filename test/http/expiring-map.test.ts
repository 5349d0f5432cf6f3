import { expect, test } from 'vitest'
import { createExpiringMap } from '../../src/http/platform/expiring-map.ts'

const LATE = 1_000_000

/** A map of two entries, of which `a` was set first and each was used once. */
function mapOfTwo() {
  const map = createExpiringMap<string>(2 * LATE, 2)
  for (const key of ['a', 'b']) map.set(key, key, LATE)
  for (const key of ['a', 'b']) expect(map.get(key, 0)).toBe(key)
  return map
}

test.each([
  { usedAt: 1_000, removed: 'b' },
  { usedAt: -1_000, removed: 'b' },
  { usedAt: 999, removed: 'a' },
])('of two entries, $removed is removed if the older one is used again $usedAt ms later', ({ usedAt, removed }) => {
  const map = mapOfTwo()
  expect(map.get('a', usedAt)).toBe('a')
  map.set('c', 'c', LATE)
  expect(['a', 'b', 'c'].filter(key => map.get(key, usedAt) === undefined)).toEqual([removed])
})

test('an entry ends at its time, also right after its use, and does not come back', () => {
  const map = mapOfTwo()
  map.set('b', 'b', 10)
  expect(map.get('b', 9)).toBe('b')
  expect(map.get('b', 10)).toBe(undefined)
  expect(map.get('b', 9)).toBe(undefined)
})

test('an entry of a clock that was ahead ends when the clock is back', () => {
  const map = createExpiringMap<string>(100, 2)
  map.set('a', 'a', LATE + 100)
  expect(map.get('a', LATE)).toBe('a')
  expect(map.get('a', 0)).toBe(undefined)
})
