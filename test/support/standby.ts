/** A synchronous standby that never confirms, on a server of the test's own: the list of standbys is a setting of the server. */
import { expect } from 'vitest'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { rawSql } from './sql.ts'

/** The server's processes that wait for a standby, with the start of their transactions. */
export function waitingForStandby(db: Database): Promise<{ pid: number; began: number }[]> {
  return db.query({
    text: sql`select pid, xact_start as began from pg_stat_activity where wait_event = 'SyncRep'`,
  })
}

export async function setStandbys(db: Database, names: string): Promise<void> {
  await db.query({ text: rawSql`alter system set synchronous_standby_names = '${names}'` })
  await db.query({ text: sql`select pg_reload_conf()` })
}

/**
 * Resolves when commits wait. A session that shows the setting is no proof: the checkpointer tells all others that a standby is
 * required, and a commit before that does not wait. So commits are tried, and the first that waits is cut short.
 */
export async function requireStandby(db: Database): Promise<void> {
  await setStandbys(db, 'missing')
  const commit = async () => {
    let isOver = false
    const outcome = db.query({ text: sql`select pg_logical_emit_message(true, 'test', 'a commit')` }).then(
      () => 'confirmed',
      () => 'cut short',
    )
    void outcome.then(() => {
      isOver = true
    })
    await expect.poll(async () => isOver || (await waitingForStandby(db)).length > 0).toBe(true)
    for (const { pid } of await waitingForStandby(db))
      await db.query({ text: sql`select pg_cancel_backend($1)`, values: [pid] })
    return outcome
  }
  await expect.poll(commit).toBe('cut short')
}
