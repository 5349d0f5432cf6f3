import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { viewOutbox } from '../../src/db/outbox.ts'
import { type Cursor, isIntact, readCursor, writeCursor } from '../../src/events/cursor.ts'
import { freshDatabase } from '../support/database.ts'

const positions = fc.array(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), { minLength: 64, maxLength: 64 })
const fingerprint = fc.option(fc.stringMatching(/^[0-9a-f]{16}$/))
const cursors: fc.Arbitrary<Cursor> = fc.record({ positions, fingerprint })

test('a cursor reads as it was written, and fits into the query', () => {
  fc.assert(
    fc.property(cursors, cursor => {
      const text = writeCursor(cursor)
      expect(text).toMatch(/^[A-Za-z0-9_-]{1,1000}$/)
      expect(readCursor(text)).toEqual(cursor)
    }),
  )
})

const numbers = (last: Record<number, number>) => Array.from({ length: 64 }, (_, shard) => last[shard] ?? 0)

test('a cursor of version 0.1.0 is read', () => {
  const text = 'AQAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
  expect(readCursor(text)).toEqual({ positions: numbers({ 4: 2 }), fingerprint: null })
})

test('a cursor is intact as long as the outbox has the same events at its positions', () => {
  const passed = { positions: numbers({ 1: 5, 9: 2 }), fingerprint: '0123456789abcdef' }
  expect(isIntact(passed, { present: 2, fingerprint: '0123456789abcdef' })).toBe(true)
  expect(isIntact(passed, { present: 2, fingerprint: '0123456789abcdee' })).toBe(false)
  expect(isIntact(passed, { present: 0, fingerprint: null })).toBe(false)
  // Without a fingerprint only missing events are noticed.
  const plain = { ...passed, fingerprint: null }
  expect(isIntact(plain, { present: 2, fingerprint: '0123456789abcdef' })).toBe(true)
  expect(isIntact(plain, { present: 1, fingerprint: '0123456789abcdef' })).toBe(false)
})

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

test('the fingerprint is of the events at the positions, and no version changes it', async () => {
  const { db } = await freshDatabase()
  const write = (shard: number, number: number, user: number | null, at: string) =>
    db.query({
      text: `insert into event (shard, number, user_id, sequence, type, at, data)
             values ($1, $2, $3, $4, 'quota.created', $5, '{}')`,
      values: [shard, number, user, user === null ? null : number, at],
    })
  const view = async (last: Record<number, number>) => {
    const { present, fingerprint } = await viewOutbox(db, numbers(last))
    return [present, fingerprint]
  }
  expect(await view({})).toEqual([0, null])
  await write(1, 5, 7, '2026-03-15T12:00:00.001Z')
  await write(9, 2, null, '2026-03-15T12:00:00Z')
  expect(await view({ 1: 4, 9: 3 })).toEqual([0, null])
  const [one, other] = ['1 5 1773576000.001000 quota.created 7 5', '9 2 1773576000.000000 quota.created']
  expect(await view({ 1: 5 })).toEqual([1, hash(one)])
  expect(await view({ 1: 5, 9: 2 })).toEqual([2, hash(`${one}, ${other}`)])
  // The lost event happened again, a millisecond later.
  await db.query({ text: "update event set at = at + interval '1 ms' where shard = 9" })
  expect(await view({ 1: 5, 9: 2 })).toEqual([2, hash(`${one}, ${other.replace('.000', '.001')}`)])
})
