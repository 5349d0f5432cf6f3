/**
 * Brings the database's schema up to what this version of the service needs, beside running services of this version
 * and of older ones. Forward only: to take a change back, add a further migration.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { VERSION } from '../../version.ts'
import { distributeTables, undistributedTables } from '../cluster/tables.ts'
import { assertNoWorker, findTopology } from '../cluster/topology.ts'
import { type Database, type Log, openDatabase, type Queryable } from '../connection/database.ts'
import { SQLSTATE, sqlStateOf } from '../connection/errors.ts'
import { type Sql, sql, sqlInteger, sqlName } from '../connection/sql.ts'
import { type ConcurrentIndex, isOlder, type Migration, readMigrations } from './migration-files.ts'

export interface MigrateOptions {
  readonly url: string
  /** A folder of `NNNN_name.sql`, numbered from 1 without a gap; by default the service's own. */
  readonly directory?: string
  /** The version of the service that is going to run on the schema; by default this one. */
  readonly version?: string
  /** The longest that a migration tries to get its locks, in milliseconds; by default five minutes. */
  readonly lockWaitMs?: number
  readonly log?: Log
}

/** The advisory lock of all processes that migrate, and the one of version 0.1.0; the numbers have no meaning. (The embedded database has one, too.) */
const LOCK_KEY = 7_670_835
const LOCK_KEY_010 = 7_670_811

/** How often a process that waits for another one asks, in milliseconds. */
const POLL_MS = 200

/**
 * The longest that a statement of a migration waits for a lock, in milliseconds. All later statements on the table queue
 * behind it, those of the senders too, so it gives up early and tries again later.
 */
const LOCK_TIMEOUT_MS = 500
const LOCK_WAIT_MS = 300_000
const MAX_PAUSE_MS = 5_000

/**
 * Applies the missing migrations, each in a transaction of its own unless it says otherwise, and returns their names. Of
 * several processes that start together, one applies them and the others wait. Throws if the database was made with other
 * migrations, or has one that this version cannot run on.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const known = await readMigrations(options.directory)
  return withDatabase(options, db =>
    db.transaction(async lock => {
      await takeLock(lock, options.log)
      let pending = await readPending(db, known, options.version)
      if (pending.some(({ servesFrom }) => servesFrom === null)) {
        // Version 0.1.0 applies the same ones, under a lock of its own.
        await lock.query({ text: sql`select pg_advisory_xact_lock(${sqlInteger(LOCK_KEY_010)})` })
        pending = await readPending(db, known, options.version)
      }
      if (pending.length > 0) await createTables(db)
      for (const migration of pending) await applyPatiently(db, migration, options)
      return pending.map(({ name }) => name)
    }),
  )
}

/** The migrations that are missing, in order. It changes nothing. Throws as `migrate` does. */
export async function pendingMigrations(options: MigrateOptions): Promise<Migration[]> {
  const known = await readMigrations(options.directory)
  return withDatabase(options, db => readPending(db, known, options.version))
}

/** Refuses a database whose schema this version cannot run on. It needs no right to change the schema. */
export async function assertMigrated(options: MigrateOptions): Promise<void> {
  const [first, ...others] = await pendingMigrations(options)
  if (first === undefined) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  throw new Error(`the database lacks the migration ${first.name}${more}; run "sms-quota migrate", or set MIGRATE=auto`)
}

async function withDatabase<T>(
  { url, lockWaitMs: lockTimeout = LOCK_WAIT_MS }: MigrateOptions,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  // To change a large table may take long, and the connection with the lock idles as long.
  const db = openDatabase({ url, maxConnections: 2, statementTimeout: 0, idleTransactionTimeout: 0, lockTimeout })
  try {
    await assertNoWorker(db)
    return await work(db)
  } finally {
    await db.close()
  }
}

/**
 * Neither the process with the lock nor one that waits for it may keep a snapshot: a concurrent build of an index waits
 * for the end of all snapshots. So this asks again and again instead of waiting in the server, and passes no parameter:
 * the server keeps the snapshot of a statement with parameters until the next one.
 */
async function takeLock(tx: Queryable, log: Log | undefined): Promise<void> {
  for (let n = 0; ; n++) {
    const [answer] = await tx.query<{ taken: boolean }>({
      text: sql`select pg_try_advisory_xact_lock(${sqlInteger(LOCK_KEY)}) as taken`,
    })
    if (answer?.taken) return
    if (n === 0) log?.info({}, 'migrate: another process is migrating the database, waiting for it')
    await pause(POLL_MS)
  }
}

// -- what the database has -------------------------------------------------------------------------------------------

interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly serves_from: string | null
}

/**
 * The migrations that the database lacks. Version 0.1.0 refuses to run on a database that has more rows in
 * `schema_migration` than it knows, so migrations that say which versions they serve are rows of `applied_migration`.
 */
async function readPending(db: Queryable, known: readonly Migration[], version = VERSION): Promise<Migration[]> {
  const applied = [
    ...(await readTable(db, 'schema_migration', sql`null::text`)),
    ...(await readTable(db, 'applied_migration', sql`serves_from`)),
  ]
  for (const { number, name, checksum, serves_from } of applied) {
    const own = known[number - 1]
    if (own !== undefined && checksum !== own.checksum) {
      throw new Error(
        `migration ${own.name} is not the one the database was made with (${name}): an applied migration must never change`,
      )
    }
    if (own === undefined && (serves_from === null || isOlder(version, serves_from))) {
      const needed = serves_from === null ? 'the newer version' : `version ${serves_from} or later`
      throw new Error(`the database's schema is newer than this service (${version}): it has ${name}. Start ${needed}.`)
    }
  }
  const numbers = new Set(applied.map(({ number }) => number))
  return known.filter(({ number }) => !numbers.has(number))
}

/** Looks for the table first: a role that may not create tables can start the service on a complete schema. */
async function readTable(db: Queryable, table: string, servesFrom: Sql): Promise<Applied[]> {
  const [{ made } = { made: false }] = await db.query<{ made: boolean }>({
    text: sql`select to_regclass($1) is not null as made`,
    values: [table],
  })
  if (!made) return []
  return db.query<Applied>({
    text: sql`select number, name, checksum, ${servesFrom} as serves_from from ${sqlName(table)} order by number`,
  })
}

async function createTables(db: Queryable): Promise<void> {
  const columns = sql`number integer primary key,
    name       text not null,
    checksum   text not null,
    applied_at timestamptz not null default now()`
  await db.query({ text: sql`create table if not exists schema_migration (${columns})` })
  await db.query({ text: sql`create table if not exists applied_migration (${columns}, serves_from text not null)` })
}

// -- applying --------------------------------------------------------------------------------------------------------

/** Applies a migration. While other transactions hold the locks that it needs, it lets them pass, and tries again. */
async function applyPatiently(db: Database, migration: Migration, options: MigrateOptions): Promise<void> {
  const { log, lockWaitMs = LOCK_WAIT_MS } = options
  const giveUpAt = performance.now() + lockWaitMs
  log?.info({ migration: migration.name }, 'migrate: applying a migration')
  for (let n = 0; ; n++) {
    try {
      await (migration.concurrent === null
        ? apply(db, migration)
        : applyConcurrently(db, migration, migration.concurrent))
      return
    } catch (error) {
      const mustWait = sqlStateOf(error) === SQLSTATE.lockNotAvailable
      const pauseMs = Math.min(LOCK_TIMEOUT_MS * 2 ** n, MAX_PAUSE_MS)
      if (!mustWait || performance.now() + pauseMs > giveUpAt) throw failureOf(migration, error, mustWait, lockWaitMs)
      log?.warn({ migration: migration.name, ms: pauseMs }, 'migrate: a lock is taken, trying again')
      await pause(pauseMs)
    }
  }
}

function failureOf({ name }: Migration, error: unknown, mustWait: boolean, lockWaitMs: number): Error {
  const reason = error instanceof Error ? error.message : String(error)
  const advice = mustWait
    ? `; other transactions held its locks for ${lockWaitMs / 1_000} s. End the long ones (pg_stat_activity), and start again`
    : ''
  return new Error(`migration ${name} failed: ${reason}${advice}`, { cause: error })
}

/** On a cluster, the tables that it makes are distributed with it. */
function apply(db: Database, migration: Migration): Promise<void> {
  return db.transaction(async tx => {
    await tx.query({ text: sql`set local lock_timeout = ${sqlInteger(LOCK_TIMEOUT_MS)}` })
    const { isDistributed } = await findTopology(tx)
    // Citus changes a domain over one connection to each node, and refuses to after a statement that has used several.
    if (isDistributed) await tx.query({ text: sql`set local citus.multi_shard_modify_mode = 'sequential'` })
    for (const text of migration.statements) await tx.query({ text })
    if (isDistributed) await distributeTables(tx, await undistributedTables(tx))
    await record(tx, migration)
  })
}

/**
 * Builds or drops an index outside of a transaction. A build that was cut short leaves an invalid index of that name,
 * which every write goes on to maintain; it is dropped first. A valid one was built by an operator, or by a process that
 * ended before it recorded that. Other statements pass while it waits for a lock, so it waits long.
 */
async function applyConcurrently(
  db: Database,
  migration: Migration,
  { creates, index }: ConcurrentIndex,
): Promise<void> {
  const isMade = creates && (await dropInvalid(db, index))
  if (!isMade) for (const text of migration.statements) await db.query({ text })
  await record(db, migration)
}

/** Whether there is a valid index of that name. An invalid one is dropped. */
async function dropInvalid(db: Database, index: string): Promise<boolean> {
  const [found] = await db.query<{ valid: boolean }>({
    text: sql`select indisvalid as valid from pg_index where indexrelid = to_regclass($1)`,
    values: [index],
  })
  if (found === undefined || found.valid) return found?.valid ?? false
  await db.query({ text: sql`drop index concurrently ${sqlName(index)}` })
  return false
}

async function record(db: Queryable, { number, name, checksum, servesFrom }: Migration): Promise<void> {
  const values = [number, name, checksum]
  await (servesFrom === null
    ? db.query({ text: sql`insert into schema_migration (number, name, checksum) values ($1, $2, $3)`, values })
    : db.query({
        text: sql`insert into applied_migration (number, name, checksum, serves_from) values ($1, $2, $3, $4)`,
        values: [...values, servesFrom],
      }))
}
