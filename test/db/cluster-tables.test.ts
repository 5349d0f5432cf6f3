import { expect, test } from 'vitest'
import { readTables } from '../../src/db/cluster/tables.ts'
import { databaseOnOwnServer } from '../support/database.ts'

// Of one PostgreSQL, also where the tests run on a cluster.
const { db } = await databaseOnOwnServer()

test('every table has a place in a cluster, and only tables of migrations have none', async () => {
  const tables = await readTables(db)
  const placed = (placement: string | null) =>
    tables.filter(table => table.placement === placement).map(({ name }) => name)
  expect(placed(null)).toEqual(['applied_migration', 'schema_migration'])
  expect(placed('on every node')).toEqual(['principal', 'principal_name'])
  expect(placed('on the coordinator')).toEqual(['usage_period', 'usage_total'])
  expect(placed('sharded')).toContain('reservation')
})

test('a table is distributed after account, and after those to which its foreign keys point', async () => {
  const names = (await readTables(db)).map(({ name }) => name)
  expect(names[0]).toBe('account')
  expect(names.indexOf('webhook_cursor')).toBeGreaterThan(names.indexOf('webhook'))
})

test('tables without a primary key are known, because a shard of theirs could not be moved', async () => {
  const unidentified = (await readTables(db)).filter(({ isIdentified }) => !isIdentified).map(({ name }) => name)
  expect(unidentified).toEqual(['usage', 'usage_day', 'usage_month', 'usage_total'])
})
