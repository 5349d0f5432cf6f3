import { describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import {
  type ArrayColumn,
  bigintLists,
  bigints,
  booleans,
  ints,
  jsons,
  smallints,
  texts,
  timestamps,
  usually,
  usuallyFalse,
  usuallyNull,
  usuallyZero,
} from '../../src/db/ledger/arrays.ts'
import { ledgerStatement } from '../../src/db/ledger/statement.ts'
import { emptyDatabase } from '../support/database.ts'

const { db } = await emptyDatabase()

async function readBack<Row>({ type, write }: ArrayColumn<Row>, rows: readonly Row[]): Promise<unknown[]> {
  const text = sql`select value from unnest($1::${type}[]) value`
  return (await db.query<{ value: unknown }>({ text, values: [write(rows)] })).map(({ value }) => value)
}

test('each row has one element, with any text in it: none shifts those of other rows', async () => {
  const rows = ['m-1', 'a","b', 'ends with \\', '\\"', 'null', '', '{x}', ' , ', 'é\n', null]
  const of = (row: string | null) => row
  expect(await readBack(texts(of), rows)).toEqual(rows)
  expect(
    await readBack(
      bigintLists((row: string) => row),
      ['{1,2}', 'x","y'],
    ),
  ).toEqual(['{1,2}', 'x","y'])
  const objects = rows.map(row => ({ row }))
  const json = await readBack(
    jsons((object: object) => object),
    objects,
  )
  expect(json.map(value => JSON.parse(String(value)))).toEqual(objects)
})

test('numbers are numbers', async () => {
  const of = (row: number | null) => row
  const numbers = [1, -2, 2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 32, -(2 ** 32), 2 ** 31, -(2 ** 31) - 1, 0, null]
  expect(await readBack(bigints(of), numbers)).toEqual(numbers)
  expect(await readBack(bigints(of), [])).toEqual([])
  expect(await readBack(ints(of), [2 ** 31 - 1, -(2 ** 31), null])).toEqual([2 ** 31 - 1, -(2 ** 31), null])
  expect(await readBack(smallints(Number), [2 ** 15 - 1, -(2 ** 15)])).toEqual([2 ** 15 - 1, -(2 ** 15)])
  // As a validation with a hole would let them through.
  for (const value of [JSON.parse('"1,2"'), JSON.parse('[1,2]'), true, 1.5, Number.NaN, 2 ** 53]) {
    expect(() => bigints(of).write([value])).toThrow('stands where a number must')
    expect(() => ints(of).write([1, value])).toThrow(TypeError)
    expect(() => smallints(() => value).write([1])).toThrow(TypeError)
  }
  expect(() => ints(of).write([2 ** 31])).toThrow(RangeError)
  expect(() => smallints(Number).write([2 ** 15])).toThrow(RangeError)
})

test('truth values and times are what they were', async () => {
  expect(await readBack(booleans(Boolean), [1, 0])).toEqual([true, false])
  const times = ['0099-12-31', '1969-12-31T23:59:59.999Z', '1999-12-31', '2026-11-27T01:02:03.004Z', '9999-12-31']
    .map(Date.parse)
    .concat(
      Date.parse('-004000-02-29'),
      Date.parse('+200000-01-01'),
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    )
  expect(
    await readBack(
      timestamps((row: number | null) => row),
      [...times, null],
    ),
  ).toEqual([...times, null])
  expect(() => timestamps(Number).write([Number.NaN])).toThrow(TypeError)
})

describe('a value that nearly all rows have', () => {
  interface Row {
    id: number
    op: string
    units: number
    force: boolean
    country: string | null
  }
  const columns = {
    shard: smallints<Row>(() => 3),
    id: bigints<Row>(({ id }) => id),
    op: usually<Row>(
      sql`'reserve'`,
      ({ op }) => op === 'reserve',
      texts(({ op }) => op),
    ),
    units: usuallyZero<Row>(({ units }) => units),
    force: usuallyFalse<Row>(({ force }) => force),
    country: usuallyNull(texts, ({ country }: Row) => country),
  }
  const forms = {
    'a table of an update': ledgerStatement('k', columns, ({ k }) => sql`select k.* from ${k} order by id`),
    'the rows of an insert': ledgerStatement(
      'rows',
      columns,
      ({ names, values, rows }) => sql`select * from (select ${values} from ${rows}) r (${names}) order by id`,
    ),
  }
  const usual = { op: 'reserve', units: 0, force: false, country: null }
  const unusual = { op: 'consume', units: 7, force: true, country: 'DE' }

  test.each(Object.entries(forms))('need not be sent, in %s', async (_, statement) => {
    const mixed = Object.entries(unusual).map(([key, value], index) => ({ id: index + 1, ...usual, [key]: value }))
    for (const rows of [
      [{ id: 1, ...usual }],
      [
        { id: 1, ...usual },
        { id: 2, ...usual },
      ],
      mixed,
    ]) {
      const { text, values } = statement.call({ now: 0 }, rows)
      expect(await db.query({ text, values })).toEqual(rows.map(row => ({ shard: 3, ...row })))
    }
    const { values } = statement.call({ now: 0 }, [{ id: 1, ...usual }])
    expect(values.slice(2)).toEqual(['{}', '{}', '{}', '{}'])
  })
})
