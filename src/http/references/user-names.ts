/** Shows administrators what other systems and people call the users of an answer: one door for all their answers. */
import type { FastifyInstance } from 'fastify'
import type { Database } from '../../db/connection/database.ts'
import { namesOfUsers, type UserNames } from '../../db/users/profiles.ts'

type Row = Readonly<Record<string, unknown>>

/** The lists of an answer. */
const LISTS = ['items', 'users', 'quotas', 'reservations', 'active', 'latest']
const NONE: UserNames = { user_ref: null, user_name: null }

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Adds the names to what the routes registered after this call answer, when a page is cut: one look-up by key for each user on it. */
export function showUserNames(app: FastifyInstance, db: Database): void {
  app.addHook('preSerialization', async (_request, _reply, payload) =>
    isRow(payload) ? withNames(db, payload) : payload,
  )
}

async function withNames(db: Database, answer: Row): Promise<Row> {
  const rows = [answer, ...LISTS.flatMap(list => rowsOf(answer[list]))]
  const names = await namesIn(db, rows)
  if (names === null) return answer
  const lists = LISTS.filter(list => Array.isArray(answer[list]))
  return named(
    { ...answer, ...Object.fromEntries(lists.map(list => [list, rowsOf(answer[list]).map(row => named(row, names))])) },
    names,
  )
}

/** Rows of an export, with the names of their users. */
export async function rowsWithNames(db: Database, rows: readonly object[]): Promise<readonly object[]> {
  const records = rowsOf(rows)
  const names = await namesIn(db, records)
  return names === null ? rows : records.map(row => named(row, names))
}

const rowsOf = (value: unknown): Row[] => (Array.isArray(value) ? value.filter(isRow) : [])

/** The parts of a row that have users of their own: alerts have a quota, transfers both. */
const PARTS = ['quota', 'transfer']

const usersIn = (row: Row): unknown[] =>
  [row, ...rowsOf(PARTS.map(part => row[part]))].flatMap(({ user_id, to_user_id }) => [user_id, to_user_id])

async function namesIn(db: Database, rows: readonly Row[]): Promise<ReadonlyMap<number, UserNames> | null> {
  const users = new Set(rows.flatMap(usersIn).filter(user => typeof user === 'number'))
  return users.size === 0 ? null : namesOfUsers(db, [...users])
}

/** Of a transfer; an erased receiver has none. */
function namesOfReceiver({ to_user_id }: Row, names: ReadonlyMap<number, UserNames>): object {
  if (to_user_id === undefined) return {}
  const { user_ref, user_name } = (typeof to_user_id === 'number' && names.get(to_user_id)) || NONE
  return { to_user_ref: user_ref, to_user_name: user_name }
}

function named(row: Row, names: ReadonlyMap<number, UserNames>): Row {
  if (typeof row.user_id === 'number') {
    const { user_id, ...others } = row
    return { user_id, ...(names.get(row.user_id) ?? NONE), ...others, ...namesOfReceiver(row, names) }
  }
  const parts = PARTS.flatMap(part => (isRow(row[part]) ? [[part, named(row[part], names)] as const] : []))
  return parts.length === 0 ? row : { ...row, ...Object.fromEntries(parts) }
}
