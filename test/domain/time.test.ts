import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTimestamp, LATEST, parseTimestamp } from '../../src/domain/time/time.ts'

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

test.each([
  ['1970-01-01T00:00:00Z', 0],
  ['1970-01-01T01:00:00+01:00', 0],
  ['1969-12-31T23:59:59.999Z', null],
  ['1970-01-01T00:00:00+00:01', null],
  ['9998-12-31T23:59:59.999Z', Date.parse('9998-12-31T23:59:59.999Z')],
  ['9999-12-31T23:59:59.999Z', LATEST],
  ['9999-12-31T23:59:59.9999999Z', LATEST],
  ['9999-12-31T23:59:59-00:01', null],
  ['10000-01-01T00:00:00Z', null],
])('%s is read as %j', (text, at) => {
  expect(parseTimestamp(text)).toBe(at)
})

test('the end of a window beyond the range is shown as the last timestamp', () => {
  expect(formatTimestamp(LATEST + 1)).toBe('9999-12-31T23:59:59.999Z')
  expect(formatTimestamp(LATEST + 86_400_000)).toBe('9999-12-31T23:59:59.999Z')
})
