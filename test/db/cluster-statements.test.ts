/** The engine's statements on the tables of a shard, whose names differ from those that the statements are written with. */
import { describe, expect, test } from 'vitest'
import { ConnectionLost } from '../../src/db/connection/database.ts'
import { BEGIN, COMMIT, connectPipelined } from '../../src/db/connection/pipelined-connection.ts'
import { type Sql, sql } from '../../src/db/connection/sql.ts'
import { onTables } from '../../src/db/ledger/cluster-statements.ts'
import { LEDGER_STATEMENTS } from '../../src/db/ledger/statements.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

// A cluster has tables of such names already.
const { db, url } = await databaseOfOnePostgres()

const names = (
  await db.query<{ name: string }>({
    text: sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  })
).map(({ name }) => name)
const tables = Object.fromEntries(names.map(name => [name, `${name}_102008`]))

test('name no other table', async () => {
  for (const [name, table] of Object.entries(tables))
    await db.query({ text: rawSql`alter table ${name} rename to ${table}` })
  const statements = Object.entries(LEDGER_STATEMENTS).map(([name, text]) => [name, onTables(text, tables)])
  // PostgreSQL looks the tables up when a connection prepares the statements.
  const connection = await connectPipelined({ url, statements: Object.fromEntries(statements), settings: {} })
  await connection.close()
})

/** Tables of which every node has all rows. */
const REFERENCE = ['principal']

test.each(Object.entries(LEDGER_STATEMENTS))('%s finds rows by their shard', (_, text) => {
  for (const [, table = '', alias = ''] of text.matchAll(/\b(?:from|join|update)\s+([a-z_]+) ([a-z])\b/g)) {
    if (tables[table] === undefined || REFERENCE.includes(table)) continue
    expect(text).toContain(`${alias}.shard = `)
  }
})

describe('what a connection does at the beginning of each transaction', () => {
  const open = (first: Sql) =>
    connectPipelined({
      url,
      statements: { one: sql`select 1`, two: sql`select 2` },
      settings: {},
      onBegin: [first, sql`select 9`],
    })
  const ONE = { name: 'one', values: [] }
  const TWO = { name: 'two', values: [] }

  test('is not among the results, and is not done outside of one', async () => {
    const connection = await open(sql`select 8`)
    const results = await connection.run([BEGIN, ONE, TWO, COMMIT])
    expect(results.map(({ tag, rows }) => [tag, ...rows.flat()])).toEqual([
      ['BEGIN'],
      ['SELECT 1', '1'],
      ['SELECT 1', '2'],
      ['COMMIT'],
    ])
    expect(await connection.run([TWO])).toEqual([{ tag: 'SELECT 1', rows: [['2']] }])
    await connection.close()
  })

  test.each([
    [
      'finds that the tables are elsewhere',
      sql`select (case when clock_timestamp() > '-infinity' then 'moved' else 'pg_class' end)::regclass`,
    ],
    ['finds no table', sql`select execute_missing()`],
  ])('ends the connection if it %s', async (_, first) => {
    await db.query({
      text: sql`create or replace function execute_missing() returns int language plpgsql as 'begin return (select n from missing); end'`,
    })
    const connection = await open(first)
    await expect(connection.run([BEGIN, ONE, COMMIT])).rejects.toBeInstanceOf(ConnectionLost)
    expect(connection.isLost).toBe(true)
    await connection.close()
  })
})
