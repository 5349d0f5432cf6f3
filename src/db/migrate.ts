/**
 * Brings the database's schema up to what this version of the service needs. Forward only: to take a change back, add a
 * further migration.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Log, Queryable } from './database.ts'
import { openDatabase } from './database.ts'

interface Migration {
  readonly number: number
  /** The file's name, `0001_baseline.sql`. */
  readonly name: string
  readonly checksum: string
  readonly sql: string
}

export interface MigrateOptions {
  readonly url: string
  /** A folder of `NNNN_name.sql`, numbered from 1 without a gap; by default the service's own. */
  readonly directory?: string
  readonly log?: Log
}

const OWN_MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url))

/** The advisory lock of all processes that migrate; the number has no meaning. */
const LOCK_KEY = 7_670_811

/**
 * Applies the missing files, each in a transaction of its own, and returns their names. Of several processes that start
 * together, one applies them and the others wait. Throws if the database has other migrations than `directory`.
 */
export async function migrate({ url, directory = OWN_MIGRATIONS, log }: MigrateOptions): Promise<string[]> {
  const known = await readMigrations(directory)
  // To change a large table may take long, and the processes that wait for the lock wait as long.
  const unbounded = { statementTimeout: 0, lockTimeout: 0, idleTransactionTimeout: 0 }
  const db = openDatabase({ url, maxConnections: 2, ...unbounded })
  try {
    return await db.transaction(async lock => {
      await takeLock(lock, log)
      const pending = known.slice(await countApplied(db, known))
      for (const migration of pending) {
        log?.info({ migration: migration.name }, 'migrate: applying a migration')
        await db
          .transaction(tx => apply(tx, migration))
          .catch(error => {
            throw new Error(`migration ${migration.name} failed: ${error.message}`, { cause: error })
          })
      }
      return pending.map(({ name }) => name)
    })
  } finally {
    await db.close()
  }
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter(name => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name, index) => {
      const number = Number(/^(\d{4})_\w+\.sql$/.exec(name)?.[1])
      if (number !== index + 1) {
        const expected = String(index + 1).padStart(4, '0')
        throw new Error(`${directory}: the next migration must be ${expected}_….sql, but there is ${name}`)
      }
      const sql = await readFile(`${directory}/${name}`, 'utf8')
      return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

async function takeLock(tx: Queryable, log: Log | undefined): Promise<void> {
  const [answer] = await tx.query<{ taken: boolean }>({
    text: 'select pg_try_advisory_xact_lock($1) as taken',
    values: [LOCK_KEY],
  })
  if (answer?.taken) return
  log?.info({}, 'migrate: another process is migrating the database, waiting for it')
  await tx.query({ text: 'select pg_advisory_xact_lock($1)', values: [LOCK_KEY] })
}

/** How many of the migrations the database has. Throws unless they are the first of `known`. */
async function countApplied(db: Queryable, known: readonly Migration[]): Promise<number> {
  // Checked first: a role that may not create tables can then still start the service on a complete schema.
  const [{ made } = { made: false }] = await db.query<{ made: boolean }>({
    text: "select to_regclass('schema_migration') is not null as made",
  })
  if (!made) {
    await db.query({
      text: `create table schema_migration (
        number     integer primary key,
        name       text not null,
        checksum   text not null,
        applied_at timestamptz not null default now()
      )`,
    })
  }
  const applied = await db.query<Omit<Migration, 'sql'>>({
    text: 'select number, name, checksum from schema_migration order by number',
  })
  for (const [index, { number, name, checksum }] of applied.entries()) {
    const own = known[index]
    if (own === undefined) {
      throw new Error(`the database's schema is newer than this service: it has ${name}. Start the newer version.`)
    }
    if (number !== own.number || checksum !== own.checksum) {
      throw new Error(
        `migration ${own.name} is not the one the database was made with (${name}): an applied migration must never change`,
      )
    }
  }
  return applied.length
}

async function apply(tx: Queryable, { number, name, checksum, sql }: Migration): Promise<void> {
  // A statement that waits for a table's lock blocks every later statement on that table, so it fails after 10 s.
  await tx.query({ text: "set local lock_timeout = '10s'" })
  await tx.query({ text: sql })
  await tx.query({
    text: 'insert into schema_migration (number, name, checksum) values ($1, $2, $3)',
    values: [number, name, checksum],
  })
}
