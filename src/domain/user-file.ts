import { isUint, MAX_UNITS } from './bounds.ts'
import type { CsvRow } from './csv-rows.ts'

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
  reason: 'not_a_user' | 'not_units' | 'twice'
  /** As the file has it. */
  user: string
  /** What is no user or no number of units. */
  text: string
}

export const USER_NAMES = ['user_id', 'user', 'userid', 'customer_id', 'customer']
export const UNIT_NAMES = ['units', 'delta', 'amount']

/** @returns null if no column names users. A file of ids alone needs no header */
export function readUsers([first, ...rest]: readonly CsvRow[]): { users: UserLine[]; bad: BadLine[] } | null {
  if (first === undefined) return { users: [], bad: [] }
  const names = first.cells.map(cell => cell.trim().toLowerCase())
  const isHeadless = first.cells.length === 1 && numberOf(names[0]) !== null
  const userAt = isHeadless ? 0 : names.findIndex(name => USER_NAMES.includes(name))
  const unitsAt = names.findIndex(name => UNIT_NAMES.includes(name))
  if (userAt === -1) return null
  const users: UserLine[] = []
  const bad: BadLine[] = []
  const known = new Set<number>()
  for (const { line, cells } of isHeadless ? [first, ...rest] : rest) {
    const user = cells[userAt]?.trim() ?? ''
    const unitsText = cells[unitsAt]?.trim() ?? ''
    const user_id = numberOf(user)
    const units = unitsAt === -1 ? null : numberOf(unitsText)
    const hasUnits = unitsAt === -1 || (units !== null && units > 0 && units <= MAX_UNITS)
    if (user_id === null) bad.push({ line, reason: 'not_a_user', user, text: user })
    else if (!hasUnits) bad.push({ line, reason: 'not_units', user, text: unitsText })
    else if (known.has(user_id)) bad.push({ line, reason: 'twice', user, text: user })
    else users.push({ line, user_id, units })
    if (user_id !== null) known.add(user_id)
  }
  return { users, bad }
}

function numberOf(text: string | undefined): number | null {
  const number = text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return isUint(number) ? number : null
}
