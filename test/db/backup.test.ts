import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { createZstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { tablesInOrder, withClient } from '../../src/db/backup/catalog.ts'
import { type Entry, encode, type Header, type TableBegin } from '../../src/db/backup/records.ts'
import { assertRestored, checkBackup, restoreBackup } from '../../src/db/backup/restore.ts'
import { writeBackup } from '../../src/db/backup/write.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { verify } from '../../src/db/verify/verify.ts'
import { whenDone } from '../support/cleanup.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'
import { scratchFolder } from '../support/database-server.ts'
import { createBench, draw, settle, someone } from '../support/engine.ts'
import { leastRole } from '../support/role.ts'
import { rawSql } from '../support/sql.ts'

const AT = new Date('2026-03-15T12:00:00Z')

/** Backs up into memory. */
async function backUp(url: string, onChunk: () => Promise<unknown> = async () => {}) {
  const chunks: Buffer[] = []
  const target = new Writable({
    highWaterMark: 1,
    write(chunk, _, done) {
      chunks.push(chunk)
      onChunk().then(() => done(), done)
    },
  })
  const written = await writeBackup(url, target, AT)
  return { bytes: Buffer.concat(chunks), written }
}

const opener = (bytes: Buffer) => () => Readable.from([bytes])

async function restoreInto(url: string, bytes: Buffer): Promise<void> {
  const { header } = await checkBackup(opener(bytes))
  await restoreBackup({ url, open: opener(bytes), header })
}

/** Every table as text, and where the sequences stand, without the tables of migrations. */
async function contentOf(db: Database): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  const names = await db.query<{ name: string; kind: string }>({
    text: sql`select relname::text as name, relkind::text as kind from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'S') and relname !~ '_migration$' order by 1`,
  })
  for (const { name, kind } of names) {
    const rows = kind === 'S' ? `(select last_value, is_called from ${name})` : name
    const [row] = await db.query<{ digest: string }>({
      text: rawSql`select count(*) || ' ' || md5(coalesce(string_agg(t::text, ';' order by t::text), '')) as digest from ${rows} t`,
    })
    content[name] = row?.digest ?? ''
  }
  return content
}

/** A ledger with some of everything, and texts that COPY has to escape. */
async function createLedger() {
  const bench = await createBench()
  const user = someone()
  const fill = async () => {
    await bench.quota({ user_id: user, name: 'tab\t, line\n, \\N, "ünï" and 𝒳', metadata: { path: '\\t' } })
    await bench.quota({ user_id: user, kind: 'cap', limit: 50, countries: ['DE', 'FR'] })
    const engine = bench.engine()
    for (const id of ['a', 'b', 'c']) await engine.submit(draw('reserve', user, id, 3))
    await engine.submit(settle('commit', user, 'a'))
    await engine.submit(draw('reserve', user, 'too many', 5_000))
  }
  return { ...bench, fill }
}

describe('a backup', async () => {
  const ledger = await createLedger()
  const [target, again] = [await emptyDatabase(), await emptyDatabase()]
  let bytes: Buffer

  test('restores every row and sequence, and verifies', async () => {
    await ledger.fill()
    const backup = await backUp(ledger.url)
    bytes = backup.bytes
    await restoreInto(target.url, bytes)
    const content = await contentOf(target.db)
    expect(content).toEqual(await contentOf(ledger.db))
    expect(content.reservation).toMatch(/^3 /)
    expect((await verify(target.db)).differences).toEqual([])
    expect(backup.written.rows).toBeGreaterThan(10)
    // The service starts on it: nothing is left to migrate.
    expect(await migrate({ url: target.url })).toEqual([])
    await assertRestored(target.db)
  })

  test('that is cut short or changed anywhere is refused', async () => {
    await expect(checkBackup(opener(bytes))).resolves.toMatchObject({ header: { made_at: AT.toISOString() } })
    const intact = await checkBackup(opener(bytes))
    const errors = new Map<string, string>()
    const check = (what: string, damaged: Buffer) =>
      checkBackup(opener(damaged)).then(
        // zstd has a few bits that mean nothing: what was read is then what was written.
        read => errors.set(what, isDeepStrictEqual(read, intact) ? 'it is the same' : 'accepted'),
        error => errors.set(what, error.message),
      )
    for (const size of [0, 1, 100, bytes.length >> 1, bytes.length - 1])
      await check(`cut at ${size}`, bytes.subarray(0, size))
    for (let at = 1; at < bytes.length; at += Math.ceil(bytes.length / 24)) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
      await check(`changed at ${at}`, changed)
    }
    expect(errors.size).toBeGreaterThan(25)
    expect([...errors].filter(([, message]) => !/^(it|its|a part|a description) /.test(message))).toEqual([])
    await expect(checkBackup(opener(Buffer.from('PK not a backup')))).rejects.toThrow('it is no backup of sms-quota')
  })

  test('may be several frames of zstd, wherever the file is cut into chunks', async () => {
    const intact = await checkBackup(opener(bytes))
    const records = zstdDecompressSync(bytes)
    const cuts = [0, 1, 3, 700, 70_000, records.length].filter(at => at <= records.length)
    const frames = cuts.map((at, index) => zstdCompressSync(records.subarray(at, cuts[index + 1])))
    const skippable = Buffer.from('502a4d1803000000616263', 'hex')
    const file = Buffer.concat([skippable, ...frames, skippable])
    for (const size of [1, 5, skippable.length, 4_096, file.length]) {
      const chunks = Array.from({ length: Math.ceil(file.length / size) }, (_, index) =>
        file.subarray(index * size, (index + 1) * size),
      )
      expect(await checkBackup(() => Readable.from(chunks))).toEqual(intact)
    }
  })

  test.each([
    ['a byte', Buffer.from('('), 'it ends too early'],
    ['zeros', Buffer.alloc(512), 'it has bytes that are not of zstd'],
    ['text', Buffer.from('ten bytes.'), 'it has bytes that are not of zstd'],
    ['a frame that is cut', zstdCompressSync('abcdef').subarray(0, 8), 'it ends too early'],
    ['a frame', zstdCompressSync('D\0\0\0\0'), 'it goes on after its end'],
  ])('with %s behind its end is refused', async (_, more, message) => {
    for (const chunks of [[Buffer.concat([bytes, more])], [bytes, more]])
      await expect(checkBackup(() => Readable.from(chunks))).rejects.toThrow(message)
  })

  test('leaves every index and constraint that the migrations make, none of them invalid', async () => {
    const made = (db: Database) =>
      db.query({
        text: sql`select indexdef as made, 'index' as kind, true as valid from pg_indexes where schemaname = 'public'
          union all select c.conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(c.oid), 'constraint', convalidated
          from pg_constraint c where connamespace = 'public'::regnamespace
          union all select indexrelid::regclass::text, 'state', indisvalid and indisready from pg_index
          where indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
          order by 1, 2`,
      })
    const restored = await made(target.db)
    // The database of the ledger may be a cluster's, with a table for each shard.
    const migrated = await emptyDatabase()
    await migrate({ url: migrated.url })
    expect(restored).toEqual(await made(migrated.db))
    expect(restored.length).toBeGreaterThan(80)
  })

  test('is the same if the role has the rights of a service only', async () => {
    const { url } = await leastRole(ledger)
    const backup = await backUp(url)
    expect(await checkBackup(opener(backup.bytes))).toEqual(await checkBackup(opener(bytes)))
  })

  test('by a role that may not read a sequence names it', async () => {
    const { name, url } = await leastRole(ledger)
    await ledger.db.query({ text: rawSql`revoke all on sequence denial_number from ${name}` })
    await expect(backUp(url)).rejects.toThrow(
      'the role may not read the sequence denial_number: make it the owner, or grant usage',
    )
  })

  test('is refused by a database that is not empty', async () => {
    const before = await contentOf(ledger.db)
    await expect(restoreInto(ledger.url, bytes)).rejects.toThrow(/not empty/)
    expect(await contentOf(ledger.db)).toEqual(before)
  })

  test('that breaks off while it is restored leaves a mark that stops the service, and can be repeated', async () => {
    const { header } = await checkBackup(opener(bytes))
    const broken = opener(bytes.subarray(0, bytes.length - 20))
    await expect(restoreBackup({ url: again.url, open: broken, header })).rejects.toThrow(/it ends|compressed data/)
    await expect(assertRestored(again.db)).rejects.toThrow(/restore into this database was not completed/)
    expect((await contentOf(again.db)).reservation).toMatch(/^0 /)
    await restoreInto(again.url, bytes)
    await assertRestored(again.db)
    expect((await contentOf(again.db)).reservation).toMatch(/^3 /)
  })

  test('of a newer version is refused', async () => {
    const { header } = await checkBackup(opener(bytes))
    const newer = { name: '9999_later.sql', checksum: '' }
    const restoring = restoreBackup({
      url: again.url,
      open: opener(bytes),
      header: { ...header, migrations: [...header.migrations, newer] },
    })
    await expect(restoring).rejects.toThrow(/migration 9999_later\.sql, which this version does not know/)
    await expect(checkBackup(await written({ ...header, format_version: 2 }))).rejects.toThrow(/its format is 2/)
  })
})

/** A backup of a header, and of tables with these rows. */
async function written(header: Header, tables: readonly (TableBegin & { row: string })[] = []) {
  async function* entries(): AsyncGenerator<Entry> {
    yield { kind: 'header', header }
    for (const { row, ...table } of tables) {
      yield { kind: 'table', table }
      if (row !== '') yield { kind: 'rows', bytes: Buffer.from(row) }
      yield { kind: 'end', rows: row === '' ? 0 : 1 }
    }
  }
  const chunks = await Readable.from(encode(entries())).pipe(createZstdCompress()).toArray()
  return opener(Buffer.concat(chunks))
}

describe('a backup that someone has made up', async () => {
  const [source, target] = [await freshDatabase(), await emptyDatabase()]
  const { header } = await checkBackup(opener((await backUp(source.url)).bytes))
  const tables = await withClient(source.url, tablesInOrder)
  const [{ name: sequence } = { name: '' }] = header.sequences
  const account = tables.find(({ table }) => table === 'account') ?? { table: '', columns: [] }
  await target.db.query({ text: sql`create schema other` })
  await target.db.query({ text: sql`create table other.note (text text)` })
  await target.db.query({ text: sql`create sequence other.number` })

  const at = (position: object) => ({ last_value: 9, is_called: true, name: sequence, ...position })
  const restoring = async (sequences: Header['sequences'], added: readonly TableBegin[], row = '') => {
    const rest = tables.filter(({ table }) => !added.some(other => other.table === table))
    const entries = [...rest.map(table => ({ ...table, row: '' })), ...added.map(table => ({ ...table, row }))]
    const open = await written({ ...header, sequences }, entries)
    await restoreBackup({ url: target.url, open, header: { ...header, sequences } })
  }

  test.each<[string, readonly TableBegin[], string]>([
    [
      'a catalog of PostgreSQL',
      [{ table: 'pg_db_role_setting', columns: ['setdatabase', 'setrole', 'setconfig'] }],
      '0\t99999999\t{work_mem=1MB}\n',
    ],
    ['the list of migrations', [{ table: 'schema_migration', columns: ['number', 'name', 'checksum'] }], ''],
    ['the mark of the restore', [{ table: 'restore_under_way', columns: ['x'] }], ''],
    ['a table of another schema', [{ table: 'other.note', columns: ['text'] }], ''],
    ['a statement', [{ table: "account\" from program 'id'; --", columns: ['x'] }], ''],
    ['a table twice', [account, account], ''],
    ['a column that the table does not have', [{ ...account, columns: [...account.columns, 'ctid'] }], ''],
    ['a column twice', [{ ...account, columns: [...account.columns, 'user_id'] }], ''],
    ['too few columns', [{ ...account, columns: account.columns.slice(1) }], ''],
  ])('is refused if it fills %s', async (_, added, row) => {
    await expect(restoring([], added, row)).rejects.toThrow(/^the backup fills .*: it is damaged, or no backup/)
    // Other tests on this server have settings, too.
    const filled = sql`select from pg_db_role_setting where setrole = 99999999`
    expect(await target.db.query({ text: filled })).toEqual([])
    await expect(assertRestored(target.db)).rejects.toThrow(/not completed/)
  })

  test.each([
    ['of another schema', [at({ name: 'other.number' })]],
    ['that does not exist', [at({ name: 'none' })]],
    ['twice', [at({}), at({})]],
  ])('is refused if it names a sequence %s', async (_, sequences) => {
    await expect(restoring(sequences, [])).rejects.toThrow(
      /^the backup sets the sequence .*: it is damaged, or no backup/,
    )
    expect(await target.db.query({ text: sql`select is_called from other.number` })).toEqual([{ is_called: false }])
  })

  test('is refused if it lacks a table', async () => {
    const open = await written(
      header,
      tables.slice(1).map(table => ({ ...table, row: '' })),
    )
    await expect(restoreBackup({ url: target.url, open, header })).rejects.toThrow(/^the backup lacks the table/)
  })

  test('is refused if it lacks a sequence', async () => {
    const sequences = header.sequences.slice(1)
    await expect(restoring(sequences, [])).rejects.toThrow(/^the backup lacks the sequence/)
  })

  test('is restored into the schema of the migrations, with any search path of the session', async () => {
    const url = new URL(target.url)
    url.searchParams.set('options', '-c search_path=public,other')
    await target.db.query({ text: sql`create table other.account (like account)` })
    const open = await written(
      header,
      tables.map(table => ({ ...table, row: '' })),
    )
    await restoreBackup({ url: url.href, open, header })
    await assertRestored(target.db)
  })
})

test('a backup holds one point in time, also while rows are written', async () => {
  const [source, target] = [await freshDatabase(), await emptyDatabase()]
  // More than the buffers on the way hold, and hardly compressible: later tables are read after the first bytes arrive.
  await source.db.query({
    text: sql`insert into event (shard, number, type, at, data)
      select 1, n, 'test', now(), to_jsonb((select string_agg(md5(n || '-' || i), '') from generate_series(1, 200) i))
      from generate_series(1, 1000) n`,
  })
  let inserted = 0
  const insertOnce = async () => {
    if (inserted++ > 0) return
    await source.db.query({ text: sql`insert into quota_alert values (1, 1, 1, now(), now())` })
  }
  const { bytes } = await backUp(source.url, insertOnce)
  await restoreInto(target.url, bytes)
  const count = sql`select (select count(*)::int from event) as events, (select count(*)::int from quota_alert) as alerts`
  expect(await source.db.query({ text: count })).toEqual([{ events: 1_000, alerts: 1 }])
  expect(await target.db.query({ text: count })).toEqual([{ events: 1_000, alerts: 0 }])
})

test('a backup of an older schema is migrated after it is restored', async () => {
  const [source, target] = [await emptyDatabase(), await emptyDatabase()]
  const { folder, remove } = await scratchFolder()
  whenDone(remove)
  const own = join(import.meta.dirname, '../../migrations')
  const names = (await readdir(own)).filter(name => name.endsWith('.sql')).sort()
  for (const name of names.slice(0, 5)) await copyFile(join(own, name), join(folder, name))
  await migrate({ url: source.url, directory: folder })
  await source.db.query({ text: sql`insert into account (shard, user_id) values (1, 1)` })
  const { bytes } = await backUp(source.url)
  await restoreInto(target.url, bytes)
  expect(await migrate({ url: target.url })).toEqual([])
  expect(await target.db.query({ text: sql`select user_id from account` })).toEqual([{ user_id: 1 }])
})

test('a database without a schema is nothing to back up', async () => {
  const { url } = await emptyDatabase()
  await expect(backUp(url)).rejects.toThrow(/nothing to back up/)
})
