import type { Queryable } from './database.ts'

const OLDEST_SERVER = 15

/** Refuses a server that is too old or could lose confirmed commits. The error names every fault and its remedy. */
export async function assertTrustworthy(db: Queryable): Promise<void> {
  // `reset_val` is the setting of the server, database or role; this session's own is safe (see `configureSession`).
  const settings = await db.query<{ name: string; value: string }>({
    text: `select name, reset_val as value from pg_settings
      where name in ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'server_encoding')`,
  })
  const faults = settings.flatMap(({ name, value }) => {
    switch (name) {
      case 'server_version':
        return Number.parseInt(value, 10) >= OLDEST_SERVER
          ? []
          : [`it runs PostgreSQL ${value}; upgrade it to version ${OLDEST_SERVER} or later`]
      case 'server_encoding':
        return value === 'UTF8' ? [] : [`its encoding is ${value}; create the database with encoding 'UTF8'`]
      default:
        return value === 'off' ? [`${name} is off, so it can lose confirmed commits; set ${name} = on`] : []
    }
  })
  if (faults.length > 0) throw new Error(`this database cannot be used: ${faults.join('; ')}`)
}
