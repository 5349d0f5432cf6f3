import { expect, test } from 'vitest'
import { isOlder, readMigrations } from '../src/db/schema/migration-files.ts'
import { VERSION } from '../src/version.ts'

/** Version 0.1.0 knows these, and refuses a database that has another one in the same table. */
const COUNTED_BY_010 = 11

test('every migration after those of 0.1.0 says which versions may run on its schema', async () => {
  const own = await readMigrations()
  const silent = own.filter(({ servesFrom }) => servesFrom === null)
  expect(silent.map(({ number }) => number)).toEqual(Array.from({ length: COUNTED_BY_010 }, (_, index) => index + 1))
  const future = own.filter(({ servesFrom }) => servesFrom !== null && isOlder(VERSION, servesFrom))
  expect(future).toEqual([])
})
