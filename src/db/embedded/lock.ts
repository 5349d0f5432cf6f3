/** The lock that makes a service the only one on its data folder. */
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { Folders } from './folders.ts'

/** The advisory lock of all services; the number has no meaning. */
const LOCK_KEY = 7_670_812

/** The server notices only after a while that a killed service is gone. */
const LOCK_TIMEOUT_MS = 2_000

export class FolderInUse extends Error {}

/** Takes the lock for as long as the connection lives. @throws FolderInUse if another service holds it */
export async function takeLock(client: pg.Client, { dataDir }: Folders, timeoutMs = LOCK_TIMEOUT_MS): Promise<void> {
  for (const end = Date.now() + timeoutMs; ; await pause(100)) {
    const taken = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [LOCK_KEY])
    if (taken.rows[0]?.taken) return
    if (Date.now() < end) continue
    const holders = await client.query<{ application_name: string }>(
      `select application_name from pg_stat_activity join pg_locks using (pid)
        where locktype = 'advisory' and objid = $1::bigint::oid and granted`,
      [LOCK_KEY],
    )
    const who = holders.rows[0]?.application_name ?? 'another process'
    throw new FolderInUse(
      `the data folder ${dataDir} is in use by another service (${who}): stop it, or set DATA_DIR to another folder`,
    )
  }
}
