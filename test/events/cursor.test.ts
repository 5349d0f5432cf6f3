import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { type OutboxHead, readHeads } from '../../src/db/outbox/pages.ts'
import { SHARDS } from '../../src/domain/basics/shard.ts'
import { type Cursor, fingerprintOf, judgeCursor, readCursor, writeCursor } from '../../src/events/cursor.ts'
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

test('a cursor with the fingerprint of an earlier version is read without it', () => {
  const text = encodeFormer('0123456789abcdef', { 4: 2 })
  expect(readCursor(text)).toEqual({ positions: numbers({ 4: 2 }), fingerprint: null })
  expect(readCursor(`${text}AA`)).toBeUndefined()
})

/** As version 0.2.0 wrote it, for numbers below 128. */
function encodeFormer(fingerprint: string, last: Record<number, number>): string {
  return Buffer.from([2, ...Buffer.from(fingerprint, 'hex'), ...numbers(last)]).toString('base64url')
}

const AT = Date.parse('2026-03-15T12:00:00.001Z')

/** The outbox as the reader at a cursor sees it, by shard; the others are empty. */
function headsOf(heads: Record<number, { end: number; pruned?: number; passed_at?: number | null }>): OutboxHead[] {
  return SHARDS.map(shard => ({ shard, end: 0, pruned: 0, passed_at: null, ...heads[shard] }))
}

describe('a cursor', () => {
  const times = SHARDS.map(shard => (shard === 1 ? AT : shard === 9 ? AT + 1 : null))
  const positions = numbers({ 1: 5, 9: 2 })
  const passed = { positions, fingerprint: fingerprintOf(positions, times) }
  const kept = { 1: { end: 7, passed_at: AT }, 9: { end: 2, passed_at: AT + 1 } }

  test.each<[string, Parameters<typeof headsOf>[0], ReturnType<typeof judgeCursor>]>([
    ['is intact as long as the outbox has the same events at its positions', kept, 'intact'],
    ['… however much has been removed before them', { ...kept, 1: { ...kept[1], pruned: 4 } }, 'intact'],
    ['has passed lost events if one has another time', { ...kept, 9: { end: 3, passed_at: AT + 2 } }, 'lost'],
    ['… or the outbox ends before it', { ...kept, 9: { end: 1 } }, 'lost'],
    ['is older than the events that are left', { ...kept, 1: { end: 90, pruned: 6 } }, 'pruned'],
    ['… also in a shard that was empty', { ...kept, 3: { end: 9, pruned: 1 } }, 'pruned'],
    ['cannot be compared if just its own event was removed', { ...kept, 1: { end: 90, pruned: 5 } }, 'pruned'],
    ['ends after the outbox, which was restored: nothing else counts', { 1: { end: 4, pruned: 3 } }, 'lost'],
  ])('%s', (_, heads, verdict) => {
    expect(judgeCursor(passed, headsOf(heads))).toBe(verdict)
  })

  test('made after its own event was removed stays intact', () => {
    const heads = headsOf({ ...kept, 1: { end: 90, pruned: 5 } })
    const made = fingerprintOf(
      positions,
      heads.map(({ passed_at }) => passed_at),
    )
    expect(judgeCursor({ positions, fingerprint: made }, heads)).toBe('intact')
  })

  test('without a fingerprint is lost only beyond the end', () => {
    const plain = { positions, fingerprint: null }
    expect(judgeCursor(plain, headsOf({ ...kept, 9: { end: 3, passed_at: AT + 2 } }))).toBe('intact')
    expect(judgeCursor(plain, headsOf({ ...kept, 9: { end: 1 } }))).toBe('lost')
    expect(judgeCursor(plain, headsOf({ ...kept, 9: { end: 9, pruned: 3 } }))).toBe('pruned')
  })
})

const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

test('the fingerprint is of shards, numbers and times, and no version changes it', async () => {
  const { db } = await freshDatabase()
  const write = (shard: number, number: number, at: string) =>
    db.query({
      text: sql`insert into event (shard, number, user_id, sequence, type, at, data)
             values ($1, $2, 7, 5, 'quota.created', $3, '{}')`,
      values: [shard, number, at],
    })
  const view = async (last: Record<number, number>) => {
    const heads = await db.transaction(tx => readHeads(tx, numbers(last)), 'keyed snapshot')
    return fingerprintOf(
      numbers(last),
      heads.map(({ passed_at }) => passed_at),
    )
  }
  expect(await view({})).toBeNull()
  await write(1, 5, '2026-03-15T12:00:00.001Z')
  await write(9, 2, '2026-03-15T12:00:00Z')
  expect(await view({ 1: 4, 9: 3 })).toBeNull()
  const [one, other] = ['1 5 1773576000001', '9 2 1773576000000']
  expect(await view({ 1: 5 })).toBe(hash(one))
  expect(await view({ 1: 5, 9: 2 })).toBe(hash(`${one}, ${other}`))
  // Erasing a user's data leaves the fingerprint as it is.
  await db.query({ text: sql`update event set user_id = null, sequence = null, data = '{}'` })
  expect(await view({ 1: 5, 9: 2 })).toBe(hash(`${one}, ${other}`))
  // The lost event happened again, a millisecond later.
  await db.query({ text: sql`update event set at = '2026-03-15T12:00:00.001Z' where shard = 9` })
  expect(await view({ 1: 5, 9: 2 })).toBe(hash(`${one}, ${other.slice(0, -1)}1`))
})
