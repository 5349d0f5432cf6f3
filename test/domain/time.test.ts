import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTimestamp, LATEST } from '../../src/domain/time.ts'

test('a timestamp is formatted the same, whether cached or not', () => {
  const timestamp = fc.oneof(
    fc.integer({ min: 0, max: LATEST }),
    fc.integer({ min: 0, max: 2_000 }).map(n => n * 251),
    fc.integer({ min: -LATEST, max: -1 }),
  )
  fc.assert(
    fc.property(fc.array(timestamp, { maxLength: 50 }), timestamps => {
      const again = [...timestamps, ...timestamps.toReversed()]
      expect(again.map(formatTimestamp)).toEqual(again.map(at => new Date(at).toISOString()))
    }),
  )
})
