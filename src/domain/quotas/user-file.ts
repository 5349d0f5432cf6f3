import { isUint, MAX_UNITS } from '../basics/bounds.ts'
import { readCell } from '../basics/csv.ts'
import type { CsvRow } from '../basics/csv-rows.ts'
import { cellsFault, columnNames, nameTwice } from './quota-file.ts'

/** A file of users who get more units, by the names of its columns. */

/** A line that names a user who gets units. */
export interface UserLine {
  line: number
  user_id: number
  /** null if the file has no column for units. */
  units: number | null
}

/** A line that gives nothing: it names no user or no units, or a user who is in an earlier line. */
export interface BadLine {
  line: number
  reason: 'not_a_user' | 'not_units' | 'too_many_cells' | 'twice'
  /** As the file has it. */
  user: string
  /** What is no user or no number of units, the number of cells, or the earlier line. */
  text: string
}

/** Why a file names no users. */
export type UserFileProblem = { reason: 'noUsers' } | { reason: 'twice'; name: string }

export const USER_NAMES = ['user_id', 'user', 'userid', 'customer_id', 'customer']
/** The column of references alone. */
export const REFERENCE_NAME = 'user_ref'
/** Begins a reference in the place of an id, as in the paths of the API. */
export const REFERENCE = 'ref:'
export const UNIT_NAMES = ['units', 'delta', 'amount']

/** The references in a file: in its column of users behind `ref:`, or in one of references, if it has no other of users. */
export function referencesIn(rows: readonly CsvRow[]): string[] {
  const { userAt, textOf, lines } = partsOf(rows, true)
  const texts = userAt === -1 ? [] : lines.map(({ cells }) => textOf(cells))
  return texts.filter(text => text.startsWith(REFERENCE)).map(text => text.slice(REFERENCE.length))
}

/** Where a file has its users. */
function partsOf(rows: readonly CsvRow[], takesReferences: boolean) {
  const [first = { line: 1, cells: [] }, ...rest] = rows
  const names = columnNames(first)
  const [cell = ''] = first.cells
  const isHeadless =
    names.length === 1 && (userOf(cell.trim()) !== null || (takesReferences && cell.trim().startsWith(REFERENCE)))
  const userAt = isHeadless ? 0 : columnOf(names, takesReferences ? [...USER_NAMES, REFERENCE_NAME] : USER_NAMES)
  const prefix = !isHeadless && names[userAt] === REFERENCE_NAME ? REFERENCE : ''
  const textOf = (cells: readonly string[]) => {
    const text = cells[userAt]?.trim() ?? ''
    return text === '' ? text : `${prefix}${text}`
  }
  return { names, userAt, textOf, lines: isHeadless ? rows : rest }
}

/**
 * Of several columns that could be meant, the first name of the list counts. A file of ids alone needs no header.
 *
 * @param named who the references in the file name; without it, none is taken
 */
export function readUsers(
  rows: readonly CsvRow[],
  named?: ReadonlyMap<string, number>,
): { users: UserLine[]; bad: BadLine[] } | { problem: UserFileProblem } {
  if (rows.length === 0) return { users: [], bad: [] }
  const { names, userAt, textOf, lines } = partsOf(rows, named !== undefined)
  const unitsAt = columnOf(names, UNIT_NAMES)
  if (userAt === -1) return { problem: { reason: 'noUsers' } }
  const twice = nameTwice(
    [names[userAt] ?? '', names[unitsAt] ?? ''].flatMap(name => names.filter(other => other === name)),
  )
  if (twice !== undefined) return { problem: { reason: 'twice', name: twice } }
  const users: UserLine[] = []
  const bad: BadLine[] = []
  const lineOf = new Map<number, number>()
  for (const { line, cells } of lines) {
    const user = textOf(cells)
    const text = unitsAt === -1 ? null : (cells[unitsAt]?.trim() ?? '')
    const user_id = user.startsWith(REFERENCE) ? (named?.get(user.slice(REFERENCE.length)) ?? null) : userOf(user)
    const units = text === null ? null : unitsOf(text)
    const fault = cellsFault(names, cells)
    const earlier = user_id === null ? undefined : lineOf.get(user_id)
    if (fault?.reason === 'too_many_cells') bad.push({ line, reason: fault.reason, user, text: String(fault.cells) })
    else if (user_id === null) bad.push({ line, reason: 'not_a_user', user, text: user })
    else if (text !== null && units === null) bad.push({ line, reason: 'not_units', user, text })
    else if (earlier !== undefined) bad.push({ line, reason: 'twice', user, text: String(earlier) })
    else users.push({ line, user_id, units })
    if (user_id !== null && earlier === undefined) lineOf.set(user_id, line)
  }
  return { users, bad }
}

/** The place of the column that has the first of these names. */
function columnOf(names: readonly string[], wanted: readonly string[]): number {
  const name = wanted.find(one => names.includes(one))
  return name === undefined ? -1 : names.indexOf(name)
}

function userOf(text: string | undefined): number | null {
  const number = text === undefined ? null : readCell({ type: 'integer' }, text)
  return typeof number === 'number' && isUint(number) ? number : null
}

function unitsOf(text: string): number | null {
  const units = userOf(text)
  return units !== null && units > 0 && units <= MAX_UNITS ? units : null
}
