import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTimestamp, LATEST } from '../../src/domain/time.ts'

test('a moment is written the same whatever was written before', () => {
  const instant = fc.oneof(
    fc.integer({ min: 0, max: LATEST }),
    fc.integer({ min: 0, max: 2_000 }).map(n => n * 251),
    fc.integer({ min: -LATEST, max: -1 }),
  )
  fc.assert(
    fc.property(fc.array(instant, { maxLength: 50 }), instants => {
      const again = [...instants, ...instants.toReversed()]
      expect(again.map(formatTimestamp)).toEqual(again.map(at => new Date(at).toISOString()))
    }),
  )
})
