import { describe, expect, test } from 'vitest'
import { bind } from '../../src/db/connection/parameters.ts'
import { joinSql, type Sql, sql, sqlInteger, sqlName, sqlText } from '../../src/db/connection/sql.ts'
import { BOUNDS, listQuotas } from '../../src/db/quotas/lists.ts'
import { listDenials } from '../../src/db/reservations/denials.ts'
import { listReservations } from '../../src/db/reservations/lists.ts'
import { sumByKey, sumTotals } from '../../src/db/usage/of-all.ts'
import { sumUsage } from '../../src/db/usage/sums.ts'
import { freshDatabase } from '../support/database.ts'

const { db } = await freshDatabase()

/** What a caller can send, and a table of constants that does not have it. */
const caller: string = `x'; drop table t; --"`
const COLUMNS: Readonly<Record<string, Sql>> = { name: sql`name` }

test('a statement takes fragments only: text of a caller does not compile', () => {
  // @ts-expect-error
  const interpolated = sql`select ${caller}`
  // @ts-expect-error
  const plain: Sql = `select ${caller}`
  // @ts-expect-error
  const statement: Parameters<typeof db.query>[0] = { text: `select ${caller}` }
  // @ts-expect-error
  const joined: Sql = [sql`a`, sql`b`].join(', ')
  expect([interpolated, plain, statement, joined]).toHaveLength(4)
})

describe('a part that is no text', () => {
  test.each([
    ['of a look-up in a table of constants', COLUMNS[caller]],
    ['of another kind', JSON.parse('["name is null"]')],
  ])('%s is refused', (_, part) => {
    expect(() => sql`select 1 where ${part}`).toThrow(/^part 1 of the statement "select 1 where …" is/)
    expect(() => joinSql([part], sql` and `)).toThrow(TypeError)
  })
})

test('fragments are joined', () => {
  expect(joinSql([])).toBe('')
  expect(joinSql([sql`a`, sql`b`])).toBe('a, b')
  expect(sql`select ${joinSql([sql`1`, sql`2`], sql` + `)} as sum`).toBe('select 1 + 2 as sum')
})

test('names and texts stay what they are, with any characters', async () => {
  const text = sql`select ${sqlText(caller)} as ${sqlName(caller)}`
  expect(await db.query({ text })).toEqual([{ [caller]: caller }])
})

test('values are bound', async () => {
  const values: string[] = []
  const text = sql`select ${bind(values, 'one')}::text as one, ${bind(values, caller)}::text as other`
  expect(text).toBe('select $1::text as one, $2::text as other')
  expect(await db.query({ text, values })).toEqual([{ one: 'one', other: caller }])
})

test.each([-1, 0.5, Number.NaN, 2 ** 53, JSON.parse('"1; drop table t"')])('%s is no integer of a statement', value => {
  expect(sqlInteger(2 ** 53 - 1)).toBe('9007199254740991')
  expect(() => sqlInteger(value)).toThrow(RangeError)
})

describe('a word of a caller that validation should have refused', () => {
  /** A text of any type that is asked for, as JSON has. */
  const word = JSON.parse('"(select version())"')
  const intervals = { starts: [0], to: 900_000 }

  test.each<[string, () => Promise<unknown>]>([
    ['without, of denials', () => listDenials(db, { without: word }, { size: 1, now: 0 })],
    ['group_by, of usage of all', () => sumTotals(db, intervals, word, 1)],
    ['group_by, of usage by key', () => sumByKey(db, intervals, word, 1, 1)],
    ['group_by, of usage of a user', () => sumUsage(db, 1, intervals, word, 1)],
    ['state, of reservations', () => listReservations(db, { state: word }, { size: 1, now: 0 })],
    [
      'status, of quotas',
      () => listQuotas(db, { status: word }, { by: 'id', descending: false }, { skip: 0 }, 1, 0, BOUNDS),
    ],
  ])('does not become part of a statement: %s', async (_, ask) => {
    await expect(Promise.try(ask)).rejects.toThrow(/^part \d+ of the statement .* is undefined, not SQL$/s)
  })
})
