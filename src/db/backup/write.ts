/** Writes a backup of a database, beside the running service. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { joinSql, sql } from '../connection/sql.ts'
import {
  appliedMigrations,
  qualifier,
  quoted,
  sequencePositions,
  tableNames,
  tablesInOrder,
  withClient,
} from './catalog.ts'
import { type Entry, encode, FORMAT_VERSION, type Header, ZSTD } from './records.ts'

/** The table that is being written or read, and how far the whole has come. */
export interface Progress {
  readonly table: string
  /** Bytes of rows, uncompressed. */
  readonly bytes: number
}

export interface Written {
  readonly tables: number
  readonly rows: number
  /** Bytes of rows, uncompressed. */
  readonly bytes: number
}

/**
 * Writes what the database holds at one point in time, however long that takes, also beside a service that writes. The
 * memory it needs does not depend on the size of the database. While it runs, PostgreSQL keeps the versions of rows that
 * it replaces.
 * @param now the time to note in the backup
 */
export async function writeBackup(
  url: string,
  target: NodeJS.WritableStream,
  now: Date,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Written> {
  const written = { tables: 0, rows: 0, bytes: 0 }
  await withClient(url, client => {
    const entries = counted(entriesOf(client, now), written, onProgress)
    return pipeline(Readable.from(encode(entries)), createZstdCompress(ZSTD), target)
  })
  return written
}

async function* counted(
  entries: AsyncIterable<Entry>,
  written: { tables: number; rows: number; bytes: number },
  onProgress: (progress: Progress) => void,
): AsyncGenerator<Entry> {
  let table = ''
  for await (const entry of entries) {
    yield entry
    if (entry.kind === 'table') table = entry.table.table
    if (entry.kind === 'rows') written.bytes += entry.bytes.length
    if (entry.kind === 'end') {
      written.tables += 1
      written.rows += entry.rows
    }
    onProgress({ table, bytes: written.bytes })
  }
}

async function* entriesOf(client: pg.Client, now: Date): AsyncGenerator<Entry> {
  const names = await tableNames(client)
  if (names.length === 0) throw new Error('there is nothing to back up: the database has no schema of sms-quota')
  const qualified = await qualifier(client)
  await client.query('begin isolation level repeatable read read only')
  // Before the snapshot, which the first query takes: no migration can change a table any more.
  await client.query(sql`lock table ${joinSql(names.map(qualified))} in access share mode`)
  const tables = await tablesInOrder(client)
  yield { kind: 'header', header: await readHeader(client, now) }
  for (const table of tables) {
    yield { kind: 'table', table }
    const columns = joinSql(table.columns.map(quoted))
    const rows = client.query(copyTo(sql`copy ${qualified(table.table)} (${columns}) to stdout`))
    for await (const bytes of rows) yield { kind: 'rows', bytes }
    yield { kind: 'end', rows: rows.rowCount }
  }
  await client.query('commit')
}

async function readHeader(client: pg.Client, now: Date): Promise<Header> {
  const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version")
  return {
    format: 'sms-quota backup',
    format_version: FORMAT_VERSION,
    made_at: now.toISOString(),
    postgresql: rows[0]?.version ?? '',
    migrations: await appliedMigrations(client),
    sequences: await sequencePositions(client),
  }
}
