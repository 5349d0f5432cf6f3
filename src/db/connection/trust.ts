/** The properties that the service requires of a server. */
import type { Queryable } from './database.ts'
import { sql } from './sql.ts'

const OLDEST_SERVER = 15

/** A setting of the server with what is wrong with it and its remedy, or null. */
export interface TrustedSetting {
  readonly name: string
  readonly value: string
  readonly fault: string | null
}

/** Refuses a server that is too old or could lose confirmed commits. The error names every fault and its remedy. */
export async function assertTrustworthy(db: Queryable): Promise<void> {
  const faults = (await readTrust(db)).flatMap(({ fault }) => fault ?? [])
  if (faults.length > 0) throw new Error(`this database cannot be used: ${faults.join('; ')}`)
}

/** The settings on which confirmed commits depend. */
export async function readTrust(db: Queryable): Promise<TrustedSetting[]> {
  return trustIn(await db.query<Setting>({ text: TRUST }))
}

interface Setting {
  readonly name: string
  readonly value: string
}

/** `reset_val` is the setting of the server, database or role; this session's own is safe (see `configureSession`). */
export const TRUST = sql`select name, reset_val as value from pg_settings
  where name in ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'server_encoding')
  order by name`

export const trustIn = (settings: readonly Setting[]): TrustedSetting[] =>
  settings.map(({ name, value }) => ({ name, value, fault: faultOf(name, value) }))

function faultOf(name: string, value: string): string | null {
  switch (name) {
    case 'server_version':
      return Number.parseInt(value, 10) >= OLDEST_SERVER
        ? null
        : `it runs PostgreSQL ${value}; upgrade it to version ${OLDEST_SERVER} or later`
    case 'server_encoding':
      return value === 'UTF8' ? null : `its encoding is ${value}; create the database with encoding 'UTF8'`
    default:
      return value === 'off' ? `${name} is off, so it can lose confirmed commits; set ${name} = on` : null
  }
}

/**
 * Refuses more connections than the server, its database or the role allows: the pool would fill up under load only, and
 * then fail calls. @param needed the maximum number of connections of this process
 */
export async function assertConnectionsFit(db: Queryable, needed: number): Promise<void> {
  const fault = connectionFault(needed, await readConnections(db))
  if (fault !== null) throw new Error(fault)
}

/** The fault if a process uses this many connections; null if they fit. */
export function connectionFault(needed: number, { allowed }: ConnectionUse): string | null {
  return needed <= allowed
    ? null
    : `this process uses up to ${needed} connections, and the database allows ${allowed}; lower DATABASE_POOL_SIZE, or raise max_connections or the limit of the role or database`
}

export interface ConnectionUse {
  /** How many connections the role may have if no other has any. */
  readonly allowed: number
  /** How many sessions the server has now, those of other databases and roles included. */
  readonly inUse: number
}

export async function readConnections(db: Queryable): Promise<ConnectionUse> {
  const [row] = await db.query<ConnectionUse>({
    text: sql`select least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true)::int, 0),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)
      ) as allowed,
      (select sum(numbackends)::int from pg_stat_database) as "inUse"`,
  })
  if (row === undefined) throw new Error('the database returned no row')
  return row
}
