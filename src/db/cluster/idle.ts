import { openDatabase, type Queryable } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { findTopology } from './topology.ts'

/** Counts the service's sessions in a database, without the caller's. */
export async function countServiceSessions(db: Queryable): Promise<number> {
  const [row] = await db.query<{ sessions: number }>({
    text: sql`select count(*) as sessions from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like 'sms-quota%'`,
  })
  return row?.sessions ?? 0
}

/**
 * Refuses a backup of tables that are distributed while the service writes to them: each node answers with its own point in
 * time, and together they would be none.
 */
export async function assertOnePointInTime(url: string): Promise<void> {
  const db = openDatabase({ url, maxConnections: 1 })
  try {
    const { isDistributed } = await findTopology(db)
    const sessions = isDistributed ? await countServiceSessions(db) : 0
    if (sessions === 0) return
    throw new Error(
      `on a cluster, a backup is of one point in time only while the service is stopped (it has ${sessions} connections); use the backups of PostgreSQL`,
    )
  } finally {
    await db.close()
  }
}
