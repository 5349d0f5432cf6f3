/** Reads a backup into an empty database. */
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams'
import type { Log, Queryable } from '../connection/database.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { migrate } from '../schema/migrate.ts'
import { appliedMigrations, qualifier, quoted, tableNames, withClient } from './catalog.ts'
import { type OwnPlaces, ownPlaces } from './own-places.ts'
import { BackupDamaged, decode, type Header } from './records.ts'
import type { Progress, Written } from './write.ts'

const OWN_MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url))

/** Opens the backup from its beginning. It is read twice. */
export type OpenBackup = () => NodeJS.ReadableStream

/** An empty table of this name exists while a restore is under way, and after one that failed. */
const MARKER = sql`restore_under_way`

/**
 * Reads a backup to its end and writes nothing.
 * @throws BackupDamaged if it is not exactly what was written
 */
export async function checkBackup(open: OpenBackup): Promise<{ header: Header; written: Written }> {
  let header: Header | undefined
  const written = { tables: 0, rows: 0, bytes: 0 }
  for await (const entry of decode(open())) {
    if (entry.kind === 'header') header = entry.header
    if (entry.kind === 'rows') written.bytes += entry.bytes.length
    if (entry.kind === 'end') {
      written.tables += 1
      written.rows += entry.rows
    }
  }
  if (header === undefined) throw new BackupDamaged('it has no header')
  return { header, written }
}

export interface RestoreOptions {
  /** An empty database, or one in which a restore of the same backup has failed. */
  readonly url: string
  /** A backup that `checkBackup` found good. */
  readonly open: OpenBackup
  readonly header: Header
  readonly log?: Log
  readonly onProgress?: (progress: Progress) => void
}

/**
 * Makes the schema that the backup was made with, fills it in one transaction, and migrates it to this version. If it
 * fails, the database is marked: the service does not start on it, and a restore can be repeated.
 */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { url, header, log } = options
  await withMigrationsOf(header, async directory => {
    await withClient(url, markEmpty)
    await migrate({ url, directory, ...(log === undefined ? {} : { log }) })
    await withClient(url, client => fill(client, options))
  })
  await migrate({ url, ...(log === undefined ? {} : { log }) })
}

/** @throws Error if a restore into this database was begun and not completed. */
export async function assertRestored(db: Queryable): Promise<void> {
  const [row] = await db.query<{ marked: boolean }>({
    text: sql`select to_regclass('${MARKER}') is not null as marked`,
  })
  if (row?.marked) throw new Error('a restore into this database was not completed: run "sms-quota restore" again')
}

async function markEmpty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ tables: number; marked: boolean }>(
    sql`select to_regclass('${MARKER}') is not null as marked, count(*)::int as tables from pg_class
      where relkind in ('r', 'p') and relnamespace = (select oid from pg_namespace where nspname = current_schema())`,
  )
  if (rows[0]?.marked) return
  if (rows[0]?.tables !== 0)
    throw new Error('the database is not empty: restore into a new one, or into a data folder without a database')
  await client.query(sql`create table ${MARKER} ()`)
}

/** Provides a folder with the backup's migrations, which must be the first ones of this version. */
async function withMigrationsOf(header: Header, work: (directory: string) => Promise<void>): Promise<void> {
  const own = (await readdir(OWN_MIGRATIONS)).filter(name => name.endsWith('.sql')).sort()
  const unknown = header.migrations.find(({ name }, index) => name !== own[index])
  if (unknown !== undefined)
    throw new Error(`the backup has the migration ${unknown.name}, which this version does not know: use a newer one`)
  const directory = await mkdtemp(join(tmpdir(), 'sms-quota-migrations-'))
  try {
    for (const { name } of header.migrations) await copyFile(join(OWN_MIGRATIONS, name), join(directory, name))
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function fill(client: pg.Client, { open, header, onProgress }: RestoreOptions): Promise<void> {
  await client.query('begin')
  const made = await appliedMigrations(client)
  if (JSON.stringify(made) !== JSON.stringify(header.migrations))
    throw new Error('the database has another schema than the backup: restore into a new database')
  // Migrations add first rows to some tables.
  const tables = (await tableNames(client)).filter(name => name !== MARKER)
  const [places, qualified] = [await ownPlaces(client, tables), await qualifier(client)]
  await client.query(sql`truncate ${joinSql(tables.map(qualified))}`)
  for (const { name, last_value, is_called } of header.sequences) {
    places.set(name)
    await client.query('select setval($1, $2, $3)', [qualified(name), last_value, is_called])
  }
  await withoutIndexes(client, tables.map(qualified), () => copyIn(client, { open, onProgress, places, qualified }))
  places.assertComplete()
  await client.query(sql`drop table ${MARKER}`)
  await client.query('commit')
}

/** Statements that drop an index and make it again, as the catalog words them. */
interface Rebuilding {
  readonly dropping: string
  readonly making: string
}

/**
 * The indexes of the tables, and their keys, except those that a foreign key of another table needs, and those of tables that the
 * role does not own. The names are quoted by the server.
 */
const INDEXES = sql`select
    case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
      else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as dropping,
    case when c.oid is null then pg_get_indexdef(i.indexrelid)
      else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end as making
  from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.conrelid = i.indrelid and c.contype in ('p', 'u')
  where i.indrelid = any($1::regclass[])
    and exists (select from pg_class t where t.oid = i.indrelid and pg_has_role(t.relowner, 'usage'))
    and not exists (select from pg_constraint f where f.conindid = i.indexrelid and f.contype = 'f')
  order by i.indexrelid`

/**
 * Does `fill` in the transaction of `client` while the tables have no indexes: to build one of all rows at the end costs a fraction of
 * one change of it per row.
 */
async function withoutIndexes(client: pg.Client, tables: readonly string[], fill: () => Promise<void>): Promise<void> {
  const { rows } = await client.query<Rebuilding>(INDEXES, [tables])
  for (const { dropping } of rows) await client.query(dropping)
  await fill()
  // One is built at a time. A build of more rows goes on with files.
  await client.query(sql`set local maintenance_work_mem = '256MB'`)
  for (const { making } of rows) await client.query(making)
}

interface Filling {
  readonly open: OpenBackup
  readonly onProgress: RestoreOptions['onProgress']
  readonly places: OwnPlaces
  readonly qualified: (name: string) => Sql
}

/**
 * Fills table after table. The end of the backup confirms its checksum, so an error comes before the commit. The checksum does
 * not tell who made the backup: it may name anything.
 */
async function copyIn(client: pg.Client, { open, onProgress, places, qualified }: Filling): Promise<void> {
  let [table, bytes] = ['', 0]
  let target: CopyStreamQuery | undefined
  let done: Promise<void> = Promise.resolve()
  for await (const entry of decode(open())) {
    if (entry.kind === 'table') {
      table = entry.table.table
      places.fill(entry.table)
      const columns = joinSql(entry.table.columns.map(quoted))
      target = client.query(copyFrom(sql`copy ${qualified(table)} (${columns}) from stdin`))
      done = finished(target)
      // It is awaited below; until then its failure must not end the process.
      done.catch(() => {})
    }
    if (entry.kind === 'rows') {
      if (target?.write(entry.bytes) === false) await Promise.race([once(target, 'drain'), done])
      bytes += entry.bytes.length
    }
    if (entry.kind === 'end') {
      target?.end()
      await done
      if (target?.rowCount !== entry.rows)
        throw new BackupDamaged(`table ${table} has ${target?.rowCount} rows instead of ${entry.rows}`)
    }
    onProgress?.({ table, bytes })
  }
}
