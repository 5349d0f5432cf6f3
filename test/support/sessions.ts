/** The service's sessions on the database server; of a cluster, on every node. */
import { expect } from 'vitest'
import type { Database } from '../../src/db/connection/database.ts'
import { onEveryNode } from './citus.ts'

interface Session {
  readonly pid: number
  readonly name: string
  readonly isWaiting: boolean
  readonly began: string | null
}

const SESSIONS = `select pid, application_name as name, coalesce(wait_event_type, '') = 'Lock' as "isWaiting",
    xact_start::text as began
  from pg_stat_activity where datname = current_database()`

/** The name of a session that the coordinator has opened on a node: the number of the node and the process behind it. */
const BEHIND = /^citus_internal gpid=(\d+)$/
/** By which Citus multiplies the number of a node in such a name. */
const NODE = 10_000_000_000

/** The sessions that wait for a lock, each under the name of the one behind it. */
async function waitingSessions(db: Database, name: string): Promise<Session[]> {
  const sessions = await onEveryNode<Session>(db, SESSIONS)
  const names = new Map(sessions.map(({ node, row }) => [node * NODE + row.pid, row.name]))
  return sessions.flatMap(({ row }) => {
    const [, behind] = BEHIND.exec(row.name) ?? []
    const nameBehind = behind === undefined ? row.name : (names.get(Number(behind)) ?? '')
    return row.isWaiting && nameBehind.startsWith(name) ? [row] : []
  })
}

/** Resolves when `sessions` sessions wait for a lock: of the service, or of those whose name begins in another way. */
export async function untilWaiting(db: Database, sessions: number, name = 'sms-quota'): Promise<void> {
  await expect.poll(async () => (await waitingSessions(db, name)).length, { interval: 5 }).toBe(sessions)
}

/** Of an engine that waits for a lock until the test releases it, however slow the machine is. */
export const UNTIL_RELEASED = { lockTimeoutMs: 60_000 } as const

/** When the transactions of engines began that wait for a lock. */
export async function waitingSince(db: Database): Promise<(string | null)[]> {
  return (await waitingSessions(db, ENGINE)).map(({ began }) => began)
}

const ENGINE = 'sms-quota engine'

/** How many database sessions all engines have. */
export async function countSessions(db: Database): Promise<number> {
  return (await onEveryNode<Session>(db, SESSIONS)).filter(({ row }) => row.name === ENGINE).length
}

/** Terminates sessions of engines, all or those that wait for a lock; answers how many. */
export async function endSessions(db: Database, which: 'all' | 'waiting'): Promise<number> {
  const waiting = which === 'waiting' ? `and wait_event_type = 'Lock'` : ''
  return ofEngines(db, `pg_terminate_backend(pid)`, waiting)
}

/** Cancels what engines are doing; answers how many of their sessions were busy. */
export const cancelSessions = (db: Database): Promise<number> =>
  ofEngines(db, 'pg_cancel_backend(pid)', `and state <> 'idle'`)

async function ofEngines(db: Database, action: string, which: string): Promise<number> {
  const text = `select ${action} from pg_stat_activity
    where datname = current_database() and application_name = '${ENGINE}' ${which}`
  // The server warns of a session that has ended meanwhile. Outside a transaction, a warning is a doubtful commit.
  return db.transaction(async tx => (await onEveryNode(tx, text)).length)
}
