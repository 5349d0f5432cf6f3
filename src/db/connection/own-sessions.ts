/** Whether each connection has a session of its own, which a pooler in transaction mode does not give. */
import { randomUUID } from 'node:crypto'
import type { Queryable } from './database.ts'
import { SQLSTATE, sqlStateOf } from './errors.ts'
import { sql } from './sql.ts'

const SHARED =
  'a pooler gives its connections the sessions of each other; set its pool_mode = session, or connect to PostgreSQL itself'

/** A connection that breaks in between looks the same once; a pooler does it again. */
const ROUNDS = 3

/** A prepared statement that does not exist, and one that exists already. */
const WRONG_STATEMENTS: ReadonlySet<string | undefined> = new Set([
  SQLSTATE.invalidSqlStatementName,
  SQLSTATE.duplicatePreparedStatement,
])

/** Refuses connections that share sessions: `synchronous_commit`, time limits and prepared statements belong to a session. */
export async function assertOwnSessions(one: Queryable, other: Queryable): Promise<void> {
  const fault = await sharingFault(one, other)
  if (fault !== null) throw new Error(`this database cannot be used: ${fault}`)
}

/** The fault of two idle pools that share a session; null if each has its own. */
export async function sharingFault(one: Queryable, other: Queryable): Promise<string | null> {
  for (let n = 0; n < ROUNDS; n++) if (await haveOwnSessions(one, other)) return null
  return SHARED
}

/**
 * Marks both sessions by a setting, and looks whether each still has its own mark. Outside of a transaction, a pooler
 * passes on a session after each statement, with its settings and its prepared statements.
 */
async function haveOwnSessions(one: Queryable, other: Queryable): Promise<boolean> {
  const [mark, othersMark] = [randomUUID(), randomUUID()]
  try {
    await setMark(one, mark)
    await setMark(other, othersMark)
    return (await readMark(one)) === mark && (await readMark(other)) === othersMark
  } catch (error) {
    if (WRONG_STATEMENTS.has(sqlStateOf(error))) return false
    throw error
  }
}

async function setMark(db: Queryable, mark: string): Promise<void> {
  await db.query({
    name: 'mark_session',
    text: sql`select set_config('sms_quota.session', $1, false)`,
    values: [mark],
  })
}

async function readMark(db: Queryable): Promise<string | null> {
  const [row] = await db.query<{ mark: string | null }>({
    name: 'read_session_mark',
    text: sql`select current_setting('sms_quota.session', true) as mark`,
  })
  return row?.mark ?? null
}
