import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDeepEqual } from '../../src/domain/quotas/quota-settings.ts'

test.each([
  [1, 1, true],
  [0, -0, true],
  [null, null, true],
  [null, {}, false],
  [undefined, null, false],
  ['1', 1, false],
  [[], [], true],
  [[], {}, false],
  [['DE', 'AT'], ['DE', 'AT'], true],
  [['DE', 'AT'], ['AT', 'DE'], false],
  [[1], [1, 2], false],
  [{ a: '1', b: '2' }, { b: '2', a: '1' }, true],
  [{ a: '1' }, { a: '2' }, false],
  [{ a: '1' }, { b: '1' }, false],
  [{ a: undefined }, { b: undefined }, false],
  [{ a: [1] }, { a: [1] }, true],
  [JSON.parse('{"__proto__":"1"}'), {}, false],
])('%j and %j: %j', (one, other, equal) => {
  expect(isDeepEqual(one, other)).toBe(equal)
  expect(isDeepEqual(other, one)).toBe(equal)
})

test('agrees with isDeepStrictEqual on any JSON', () => {
  // JSON.stringify turns -0 into 0, which isDeepStrictEqual alone would distinguish.
  const json = fc.jsonValue({ noUnicodeString: true }).map(value => JSON.parse(JSON.stringify(value)) as unknown)
  fc.assert(
    fc.property(json, json, (one, other) => {
      expect(isDeepEqual(one, other)).toBe(isDeepStrictEqual(one, other))
      expect(isDeepEqual(one, structuredClone(one))).toBe(true)
    }),
  )
})
