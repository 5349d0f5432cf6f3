import { expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { type ArrayColumn, bigintLists, bigints, ints, jsons, smallints, texts } from '../../src/db/ledger/arrays.ts'
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
  expect(await readBack(bigints(of), [1, -2, 2 ** 53 - 1, null])).toEqual([1, -2, 2 ** 53 - 1, null])
  // As a validation with a hole would let them through.
  for (const value of [JSON.parse('"1,2"'), JSON.parse('[1,2]'), true]) {
    expect(() => bigints(of).write([value])).toThrow('stands where a number must')
    expect(() => ints(of).write([1, value])).toThrow(TypeError)
    expect(() => smallints(() => value).write([1])).toThrow(TypeError)
  }
})
