import type { Queryable } from './database.ts'
import { sql } from './sql.ts'

export interface ServerVersions {
  /** Of PostgreSQL, `18.4`. */
  postgres: string
  /** The number of the last migration. */
  schema: number
}

export async function readServerVersions(db: Queryable): Promise<ServerVersions> {
  const [row] = await db.query<ServerVersions>({
    text: sql`select split_part(current_setting('server_version'), ' ', 1) as postgres,
             (select max(number) from (select number from schema_migration union all select number from applied_migration) m) as schema`,
  })
  if (row === undefined) throw new Error('the database returned no row')
  return row
}
