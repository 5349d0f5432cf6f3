import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { emptyDatabase } from '../support/database.ts'

const ONE = 'create table one (id integer); insert into one values (1);'
const TWO = "alter table one add name text; comment on table one is 'both; in one text';"

const { db, url } = await emptyDatabase()
const made: string[] = []
afterAll(() => Promise.all(made.map(directory => rm(directory, { recursive: true }))))

async function migrations(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sms-quota-migrations-'))
  made.push(directory)
  await Promise.all(Object.entries(files).map(([name, sql]) => writeFile(join(directory, name), sql)))
  return directory
}

const run = async (files: Record<string, string>) => migrate({ url, directory: await migrations(files) })

test('files are applied in order, each once, even by several processes at the same time', async () => {
  const directory = await migrations({ '0002_two.sql': TWO, '0001_one.sql': ONE, 'README.md': 'no migration' })
  const runs = await Promise.all([1, 2, 3, 4].map(() => migrate({ url, directory })))
  expect(runs.filter(applied => applied.length > 0)).toEqual([['0001_one.sql', '0002_two.sql']])
  expect(await migrate({ url, directory })).toEqual([])
  expect(await db.query({ text: 'select * from one' })).toEqual([{ id: 1, name: null }])
})

test('only new files are applied to an existing schema', async () => {
  const files = { '0001_one.sql': ONE, '0002_two.sql': TWO, '0003_three.sql': 'create table three (id integer)' }
  expect(await run(files)).toEqual(['0003_three.sql'])
})

test('a file that fails is rolled back, and the ones before it stay', async () => {
  const files = {
    '0001_one.sql': ONE,
    '0002_two.sql': TWO,
    '0003_three.sql': 'create table three (id integer)',
    '0004_four.sql': 'create table four (id integer)',
    '0005_five.sql': 'create table five (id integer); select 1 / 0;',
  }
  await expect(run(files)).rejects.toThrow(/0005_five\.sql.*division by zero/)
  const tables = await db.query({ text: "select to_regclass('four') as four, to_regclass('five') as five" })
  expect(tables).toEqual([{ four: 'four', five: null }])
})

test('a schema newer than the service is refused', async () => {
  const older = run({ '0001_one.sql': ONE, '0002_two.sql': TWO })
  await expect(older).rejects.toThrow(/schema is newer than this service.*0003_three\.sql/)
})

test('a file that changed after it was applied is refused', async () => {
  const changed = run({ '0001_one.sql': `${ONE} -- changed`, '0002_two.sql': TWO })
  await expect(changed).rejects.toThrow(/0001_one\.sql.*must never change/)
})

test.each([
  [{ '0001_one.sql': ONE, '0003_three.sql': TWO }, /0002_….sql.*0003_three\.sql/],
  [{ '0001_one.sql': ONE, '0001_uno.sql': TWO }, /0002_….sql.*0001_uno\.sql/],
  [{ 'one.sql': ONE }, /0001_….sql.*one\.sql/],
])('files out of line are refused: %o', async (files, fault) => {
  await expect(run(files)).rejects.toThrow(fault)
})

test('the service’s own migrations create the schema', async () => {
  const { url, db } = await own
  expect(await migrate({ url })).toContain('0001_baseline.sql')
  expect(await db.query({ text: 'select count(*) as shards from shard_head' })).toEqual([{ shards: 64 }])
})

const own = emptyDatabase()
