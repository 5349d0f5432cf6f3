import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { sql } from '../../src/db/connection/sql.ts'
import { assertMigrated, type MigrateOptions, migrate, pendingMigrations } from '../../src/db/schema/migrate.ts'
import { statementsOf } from '../../src/db/schema/migration-files.ts'
import { emptyDatabase } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

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
  expect(await db.query({ text: sql`select * from one` })).toEqual([{ id: 1, name: null }])
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
  const tables = await db.query({ text: sql`select to_regclass('four') as four, to_regclass('five') as five` })
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
  expect(await db.query({ text: sql`select count(*) as shards from shard_head` })).toEqual([{ shards: 64 }])
})

const own = emptyDatabase()

describe('migrations that say which versions they serve', async () => {
  const { db, url } = await emptyDatabase()
  const SERVED = `-- serves: 0.2.0\n${ONE}`
  const files: Record<string, string> = { '0001_base.sql': 'create table base (id integer)' }
  const at = async (version: string, further: Partial<MigrateOptions> = {}) =>
    migrate({ url, version, directory: await migrations(files), ...further })
  const older = async (version: string) =>
    migrate({ url, version, directory: await migrations({ '0001_base.sql': 'create table base (id integer)' }) })
  const numbers = async (table: string) => {
    const rows = await db.query<{ number: number }>({ text: rawSql`select number from ${table} order by number` })
    return rows.map(({ number }) => number)
  }

  test('are recorded where version 0.1.0 does not count them', async () => {
    files['0002_served.sql'] = SERVED
    expect(await at('0.3.0')).toEqual(['0001_base.sql', '0002_served.sql'])
    expect([await numbers('schema_migration'), await numbers('applied_migration')]).toEqual([[1], [2]])
    expect(await at('0.3.0')).toEqual([])
  })

  test('let those versions start, and refuse those before', async () => {
    expect(await older('0.2.0')).toEqual([])
    expect(await older('0.10.0')).toEqual([])
    await expect(older('0.1.9')).rejects.toThrow(
      /newer than this service \(0\.1\.9\): it has 0002_served\.sql\. Start version 0\.2\.0 or later/,
    )
  })

  test('must not change once they are applied', async () => {
    files['0002_served.sql'] = `${SERVED} -- changed`
    await expect(at('0.3.0')).rejects.toThrow(/0002_served\.sql.*must never change/)
    files['0002_served.sql'] = SERVED
  })

  test('are listed without being applied, and refuse a start that must not apply them', async () => {
    files['0003_three.sql'] = '-- serves: 0.2.0\n-- transaction: none\ncreate index concurrently one_id on one (id);\n'
    const directory = await migrations(files)
    expect(await pendingMigrations({ url, directory })).toMatchObject([
      { name: '0003_three.sql', servesFrom: '0.2.0', concurrent: { index: 'one_id', creates: true } },
    ])
    await expect(assertMigrated({ url, directory })).rejects.toThrow(
      /lacks the migration 0003_three\.sql; run "sms-quota migrate", or set MIGRATE=auto/,
    )
    expect(await numbers('applied_migration')).toEqual([2])
  })

  test('build an index again whose build was cut short', async () => {
    await db.query({ text: sql`insert into one values (1)` })
    // Two equal ids: the build fails, and leaves an invalid index.
    await db.query({ text: sql`create unique index concurrently one_id on one (id)` }).catch(() => {})
    expect(await isValid('one_id')).toBe(false)
    expect(await at('0.3.0')).toEqual(['0003_three.sql'])
    expect(await isValid('one_id')).toBe(true)
  })

  test('keep an index that is complete, and drop one', async () => {
    await db.query({ text: sql`create index concurrently one_by_hand on one (id)` })
    files['0004_four.sql'] =
      '-- serves: 0.2.0\n-- transaction: none\ncreate index concurrently one_by_hand on one (id)\n'
    files['0005_five.sql'] = '-- serves: 0.2.0\n-- transaction: none\ndrop index concurrently if exists one_id;\n'
    expect(await at('0.3.0')).toEqual(['0004_four.sql', '0005_five.sql'])
    expect([await isValid('one_by_hand'), await isValid('one_id')]).toEqual([true, undefined])
  })

  test('wait for the locks of others without blocking them, and give up in the end', async () => {
    files['0006_six.sql'] = '-- serves: 0.2.0\nalter table one add column six integer;\n'
    const warnings: string[] = []
    const log = { info() {}, error() {}, warn: (_: object, message: string) => warnings.push(message) }
    await db.transaction(async holder => {
      await holder.query({ text: sql`select * from one` })
      const failing = expect(at('0.3.0', { lockWaitMs: 1_200, log })).rejects.toThrow(
        /0006_six\.sql failed: .*lock timeout; other transactions held its locks for 1\.2 s/,
      )
      let done = false
      failing.finally(() => {
        done = true
      })
      while (!done) {
        // Fails if it waits for a lock for a second.
        await db.query({ text: sql`select count(*) from one` })
        await holder.query({ text: sql`select 1` })
      }
      await failing
    })
    expect(warnings).toContain('migrate: a lock is taken, trying again')
    expect(await at('0.3.0', { log })).toEqual(['0006_six.sql'])
  })

  async function isValid(index: string): Promise<boolean | undefined> {
    const text = sql`select indisvalid as valid from pg_index where indexrelid = to_regclass($1)`
    return (await db.query<{ valid: boolean }>({ text, values: [index] }))[0]?.valid
  }

  test.each([
    ['-- serves: soon\nselect 1', /"-- serves: soon" is no version/],
    ['-- transaction: later\nselect 1', /"-- transaction: later" is unknown/],
    ['-- serves: 0.2.0\n-- transaction: none\ncreate table t (id integer)', /accepted is one statement/],
    ['-- serves: 0.2.0\n-- transaction: none\ndrop index concurrently i; select 1', /accepted is one statement/],
    [ONE, /0007_seven\.sql must say who may run on its schema/],
  ])('are refused: %s', async (sql, fault) => {
    const directory = await migrations({ ...files, '0007_seven.sql': sql })
    await expect(migrate({ url, directory, version: '0.3.0' })).rejects.toThrow(fault)
  })
})

test('a text is split into its statements, which a semicolon in a string, a name, a comment or a body does not end', () => {
  const text = `-- one; not two
create table "a;b" (c text default 'd;''e'); /* ; */
do $body$ begin perform 1; end $body$;
select $$;$$;
-- nothing; more
`
  expect(statementsOf(text)).toEqual([
    `-- one; not two\ncreate table "a;b" (c text default 'd;''e')`,
    '/* ; */\ndo $body$ begin perform 1; end $body$',
    'select $$;$$',
  ])
})
