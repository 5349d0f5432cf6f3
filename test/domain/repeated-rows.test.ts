/** Rows for the same quota are found, however many there are between them, and no others. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRepeatedRows } from '../../src/domain/quotas/repeated-rows.ts'

test('of two rows for the same quota, the second gets the line of the first', () => {
  const repeated = createRepeatedRows()
  const byId = (line: number) => ({ line, by: 'id' })
  const byReference = (line: number) => ({ line, by: 'reference' })
  const rows: [row: object, earlier: object | undefined][] = [
    [{ user_id: 1, external_ref: 'A' }, undefined],
    [{ user_id: 1, external_ref: 'B' }, undefined],
    [{ user_id: 2, external_ref: 'A' }, undefined],
    [{ user_id: 12, external_ref: 'A' }, undefined],
    [{ user_id: 1, external_ref: '2 A' }, undefined],
    [{ user_id: 1, external_ref: 'A' }, byReference(1)],
    [{ user_id: 1, external_ref: 'A' }, byReference(1)],
    [{ user_id: 1, id: 64 }, undefined],
    [{ user_id: 1, id: 64, external_ref: 'C' }, byId(8)],
    [{ id: 65, user_id: 1, external_ref: 'D' }, undefined],
    [{ id: 66, user_id: 1, external_ref: 'D' }, byReference(10)],
    [{ user_id: 1, external_ref: 'D' }, byReference(10)],
    [{ user_id: 1, plan: 'Basic' }, undefined],
    [
      { user_id: 1, plan: 3 },
      { line: 13, by: 'plan' },
    ],
    [{ user_ref: '1', plan: 3 }, undefined],
    [
      { user_ref: '1', plan: 3 },
      { line: 15, by: 'plan' },
    ],
    [{ user_id: 1, id: 67, plan: { id: 3, slot: 'a' } }, undefined],
    [{ user_id: 1, id: 68, plan: { id: 3, slot: 'b' } }, undefined],
    // What cannot be read is the same as nothing.
    ...[{}, { user_id: '1', external_ref: 'A' }, { user_id: 1 }, { user_id: 1, external_ref: 7 }, { plan: 3 }].flatMap(
      (row): [object, undefined][] => [
        [row, undefined],
        [row, undefined],
      ],
    ),
  ]
  expect(rows.map(([row], index) => repeated.add({ ...row }, index + 1))).toEqual(rows.map(([, earlier]) => earlier))
})

test('finds what a list of all rows finds', () => {
  const row = fc.record({
    user_id: fc.nat(20),
    external_ref: fc.string({ unit: fc.constantFrom('a', 'b', 'я', ' '), maxLength: 4 }),
  })
  fc.assert(
    fc.property(fc.array(row, { maxLength: 300 }), rows => {
      const repeated = createRepeatedRows()
      const lines = new Map<string, number>()
      for (const [index, each] of rows.entries()) {
        const key = JSON.stringify([each.user_id, each.external_ref])
        expect(repeated.add(each, index + 1)?.line).toBe(lines.get(key))
        if (!lines.has(key)) lines.set(key, index + 1)
      }
    }),
  )
})

test('takes at most 64 bytes for a row of any length, and takes none of 100,000 that are alike for the same', () => {
  const repeated = createRepeatedRows()
  const before = process.memoryUsage().arrayBuffers
  const rows = 100_000
  const rowOf = (n: number) => ({
    user_id: 1_000 + (n % 1_000),
    external_ref: `${'x'.repeat(100)}${(n - (n % 1_000)) / 1_000}`,
  })
  let found = 0
  for (let n = 0; n < rows; n++) if (repeated.add(rowOf(n), n + 1) !== undefined) found += 1
  expect(found).toBe(0)
  for (let n = 0; n < rows; n++) if (repeated.add(rowOf(n), rows + n + 1)?.line === n + 1) found += 1
  expect(found).toBe(rows)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * rows * 2)
})
