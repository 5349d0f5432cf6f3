/** Checks whether the service can run on a database. It changes nothing there. */
import { isBeyondThisMachine, isUnencrypted } from '../../config/database-url.ts'
import { checkCluster } from '../cluster/check.ts'
import { type Database, isUnavailable, openDatabase, type Queryable } from '../connection/database.ts'
import { sharingFault } from '../connection/own-sessions.ts'
import { sql } from '../connection/sql.ts'
import { connectionFault, readConnections, readTrust } from '../connection/trust.ts'
import { pendingMigrations } from './migrate.ts'

export interface Check {
  readonly name: string
  /** The fault, with what is accepted or how to mend it; null if there is none. */
  readonly fault: string | null
  /** The finding, in words. */
  readonly found: string
}

export interface CheckOptions {
  readonly url: string
  /** The maximum number of connections of a process. */
  readonly connections: number
  /** Whether a start applies missing migrations. */
  readonly migrates: boolean
  /** Checks the keys of secrets that are stored already. */
  readonly checkSecrets: (db: Queryable) => Promise<Check>
  /** Checks the clock, by a function that asks the database for its own. */
  readonly checkClock: (ping: Database['ping']) => Promise<Check>
}

const good = (name: string, found: string): Check => ({ name, fault: null, found })
const wrong = (name: string, fault: string): Check => ({ name, fault, found: '' })
const checked = (name: string, fault: string | null, found: string): Check => ({ name, fault, found })

/** Runs all checks, in the order in which they are printed. Without a connection that is the only one. */
export async function checkDatabase(options: CheckOptions): Promise<Check[]> {
  const { url, connections, migrates, checkSecrets, checkClock } = options
  // Two pools of one connection each: which statement goes to which connection is certain.
  const [db, other] = [openDatabase({ url, maxConnections: 1 }), openDatabase({ url, maxConnections: 1 })]
  try {
    const connection = await checkConnection(db)
    if (connection.fault !== null) return [connection]
    // Before all others: behind a pooler that shares sessions, theirs can fail at random.
    const sessions = await checkSessions(db, other)
    if (sessions.fault !== null) return [connection, sessions]
    const schema = await checkSchema(url, migrates)
    return [
      connection,
      sessions,
      ...(await checkServer(db)),
      await checkConnections(db, connections),
      await checkTls(db, url),
      await checkWrites(db),
      schema,
      ...(await checkNodes(db, options)),
      await checkRole(db, migrates),
      await checkSecrets(db),
      await checkClock(() => db.ping()),
    ]
  } finally {
    await Promise.all([db.close(), other.close()])
  }
}

async function checkConnection(db: Queryable): Promise<Check> {
  try {
    const [row] = await db.query<{ role: string; name: string }>({
      text: sql`select current_user as role, current_database() as name`,
    })
    return good('connection', `to the database ${row?.name} as the role ${row?.role}`)
  } catch (error) {
    if (!isUnavailable(error) || !(error instanceof Error)) throw error
    return wrong('connection', `${error.message}; nothing else is checked`)
  }
}

async function checkSessions(db: Queryable, other: Queryable): Promise<Check> {
  const fault = await sharingFault(db, other)
  return checked('sessions', fault && `${fault}; nothing else is checked`, 'each connection has its own')
}

async function checkServer(db: Queryable): Promise<Check[]> {
  const settings = await readTrust(db)
  const version = settings.find(({ name }) => name === 'server_version')
  const encoding = settings.find(({ name }) => name === 'server_encoding')
  const durability = settings.filter(setting => setting !== version && setting !== encoding)
  const faults = durability.flatMap(({ fault }) => fault ?? [])
  const found = durability.map(({ name, value }) => `${name} ${value}`).join(', ')
  return [
    checked('version', version?.fault ?? null, `PostgreSQL ${version?.value}`),
    checked('encoding', encoding?.fault ?? null, `${encoding?.value}`),
    checked('durability', faults.length === 0 ? null : faults.join('; '), found),
  ]
}

/** Other processes change all the time, this one may be among them: what they use now is no fault. */
async function checkConnections(db: Queryable, needed: number): Promise<Check> {
  const use = await readConnections(db)
  const free = Math.max(0, use.allowed - use.inUse)
  const few = free < needed ? `, so there is no room for one more process now` : ''
  const found = `a process uses up to ${needed} of ${use.allowed}; ${use.inUse} are in use now${few}`
  return checked('connections', connectionFault(needed, use), found)
}

/** The service connects beyond this machine in the clear only with DATABASE_TLS=off. */
async function checkTls(db: Queryable, url: string): Promise<Check> {
  if (!isBeyondThisMachine(url)) return good('TLS', 'not needed on this machine')
  if (isUnencrypted(url)) return good('TLS', 'not required, because DATABASE_TLS is off')
  const [row] = await db.query<{ version: string | null }>({
    text: sql`select version from pg_stat_ssl where pid = pg_backend_pid()`,
  })
  const version = row?.version ?? 'used up to a proxy or pooler; the server sees none'
  return good('TLS', version)
}

async function checkWrites(db: Database): Promise<Check> {
  const { isReadOnly } = await db.ping()
  const fault = isReadOnly
    ? 'the server takes no writes: it is a standby, or default_transaction_read_only is on; name the primary in DATABASE_URL, or all hosts'
    : null
  return checked('writes', fault, 'the server takes them')
}

async function checkSchema(url: string, migrates: boolean): Promise<Check> {
  try {
    const [first, ...others] = await pendingMigrations({ url })
    if (first === undefined) return good('schema', 'has all migrations of this version')
    const missing = `lacks the migration ${first.name}${others.length === 0 ? '' : ` and ${others.length} more`}`
    return migrates
      ? good('schema', `${missing}; the next start applies them`)
      : wrong('schema', `${missing}; run "sms-quota migrate", or set MIGRATE=auto`)
  } catch (error) {
    if (isUnavailable(error) || !(error instanceof Error)) throw error
    return wrong('schema', error.message)
  }
}

/** No line on one PostgreSQL. */
async function checkNodes(db: Queryable, options: CheckOptions): Promise<Check[]> {
  const cluster = await checkCluster(db, options)
  if (cluster === null) return []
  return [checked('cluster', cluster.faults.length === 0 ? null : cluster.faults.join('; '), cluster.found)]
}

interface Rights {
  /** Whether the migrations have made tables. */
  readonly isMade: boolean
  readonly schema: string | null
  readonly mayCreate: boolean
  readonly mayEndSessions: boolean
  /** The first table of the schema that the role does not own. */
  readonly notOwned: string | null
  /** The first one whose rows it may not read or change. */
  readonly closed: string | null
  /** The first sequence that it may not take numbers from. */
  readonly closedSequence: string | null
}

const RIGHTS = sql`with own as (
    select oid, relname, relowner, relkind from pg_class
    where relnamespace = coalesce(
      (select relnamespace from pg_class where oid = to_regclass('schema_migration')), to_regnamespace(current_schema()))
  ), tables as (select * from own where relkind in ('r', 'p'))
  select to_regclass('schema_migration') is not null as "isMade", current_schema() as schema,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
    has_function_privilege('pg_terminate_backend(int, bigint)', 'execute') as "mayEndSessions",
    (select min(relname) from tables where not pg_has_role(relowner, 'usage')) as "notOwned",
    (select min(relname) from tables
      where not has_table_privilege(oid, 'select') or relname not in ('schema_migration', 'applied_migration')
        and not (has_table_privilege(oid, 'insert') and has_table_privilege(oid, 'update')
          and has_table_privilege(oid, 'delete'))) as closed,
    (select min(relname) from own
      where case when relkind = 'S' then not has_sequence_privilege(oid, 'usage') else false end) as "closedSequence"`

/** A start that applies migrations, now or after an upgrade, changes the schema; another one needs its rows only. */
async function checkRole(db: Queryable, migrates: boolean): Promise<Check> {
  const [rights] = await db.query<Rights>({ text: RIGHTS })
  if (rights === undefined) throw new Error('the database returned no row')
  const { isMade, schema, mayCreate, mayEndSessions, notOwned, closed, closedSequence } = rights
  const faults: string[] = []
  if (!isMade && !migrates) {
    faults.push(
      'there are no tables yet whose rights could be checked; run "sms-quota migrate" as another role, then check again',
    )
  }
  if (closed !== null) {
    faults.push(
      `it may not read and change the table ${closed}; make it the owner, or grant select, insert, update, delete`,
    )
  }
  if (closedSequence !== null) {
    faults.push(`it may not take numbers from the sequence ${closedSequence}; make it the owner, or grant usage`)
  }
  if (migrates && !mayCreate) {
    faults.push(
      schema === null
        ? 'it has no schema in its search_path; create one'
        : `it may not create tables in the schema ${schema}; grant create on it, or set MIGRATE=off and migrate as another role`,
    )
  }
  if (migrates && notOwned !== null) {
    faults.push(
      `it does not own the table ${notOwned}; change the owner, or set MIGRATE=off and migrate as another role`,
    )
  }
  if (!mayEndSessions)
    faults.push('it may not end its own sessions; grant execute on the function pg_terminate_backend')
  const made = migrates ? 'may change the schema and its rows' : 'may change all rows'
  const found = isMade ? made : 'there are no tables yet; may create them, and then owns them'
  return checked('role', faults.length === 0 ? null : faults.join('; '), `${found}, and end its own sessions`)
}
