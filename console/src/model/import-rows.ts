import type { CsvRow } from '../../../src/domain/basics/csv-rows.ts'
import {
  columnNames,
  givesPlan,
  nameTwice,
  QUOTA_COLUMNS,
  type RowFault,
  readQuotaRow,
  unknownNames,
} from '../../../src/domain/quotas/quota-file.ts'
import { createRepeatedRows } from '../../../src/domain/quotas/repeated-rows.ts'
import { type BadLine, readUsers, type UserLine } from '../../../src/domain/quotas/user-file.ts'

/** The rows of a file: quotas, or users who get more units. */

/** Why a file means nothing. */
export type FileProblem =
  | { reason: 'noRows' | 'neededColumns' }
  | { reason: 'twice'; name: string }
  | { reason: 'unknownColumns'; unknown: readonly string[]; known: readonly string[] }

/** A line that is not sent. */
export interface BadRow {
  line: number
  fault: RowFault | { reason: 'repeated'; earlier: number }
}

/** What a file asks for. */
export type FileContent =
  | {
      about: 'quotas'
      lines: readonly { line: number; json: string }[]
      /** What the lines are: a file may have quotas and plans of users. */
      of: 'quotas' | 'plans' | 'both'
      failures: readonly BadRow[]
    }
  | { about: 'users'; users: readonly UserLine[]; failures: readonly BadLine[] }
  | { about: 'nothing'; problem: FileProblem }

/** Finds out what a file is about by its columns, and reads its rows. */
export function readRows(rows: readonly CsvRow[]): FileContent {
  const [first, ...rest] = rows
  if (first === undefined) return { about: 'nothing', problem: { reason: 'noRows' } }
  const names = columnNames(first)
  if (isAboutQuotas(names)) return quotaRows(names, rest)
  const read = readUsers(rows)
  if ('problem' in read) {
    const { problem } = read
    return { about: 'nothing', problem: problem.reason === 'noUsers' ? { reason: 'neededColumns' } : problem }
  }
  const { users, bad } = read
  const isEmpty = users.length === 0 && bad.length === 0
  return isEmpty ? { about: 'nothing', problem: { reason: 'noRows' } } : { about: 'users', users, failures: bad }
}

/** Whether a list says who, and not how much: its users can get a plan in place of units. */
export function isOfUsersAlone(users: readonly UserLine[]): boolean {
  return users.length > 0 && users.every(({ units }) => units === null)
}

/** The lines of a file that gives each user the plan. */
export function planLines(users: readonly UserLine[], plan: number): { line: number; json: string }[] {
  return users.map(({ line, user_id }) => ({ line, json: JSON.stringify({ user_id, plan }) }))
}

/** A list of users may have ids and plans of its own, but then it has other columns. */
function isAboutQuotas(names: readonly string[]): boolean {
  const has = (...needed: string[]) => needed.every(name => names.includes(name))
  const hasUser = has('user_id') || has('user_ref')
  return hasUser && (has('external_ref', 'limit') || ((has('id') || has('plan')) && unknownNames(names).length === 0))
}

function quotaRows(names: readonly string[], rows: readonly CsvRow[]): FileContent {
  const twice = nameTwice(names)
  if (twice !== undefined) return { about: 'nothing', problem: { reason: 'twice', name: twice } }
  const unknown = unknownNames(names)
  if (unknown.length > 0)
    return { about: 'nothing', problem: { reason: 'unknownColumns', unknown, known: QUOTA_COLUMNS } }
  if (rows.length === 0) return { about: 'nothing', problem: { reason: 'noRows' } }
  const failures: BadRow[] = []
  const lines: { line: number; json: string }[] = []
  let plans = 0
  const repeated = createRepeatedRows()
  for (const { line, cells } of rows) {
    const read = readQuotaRow(names, cells)
    if ('fault' in read) {
      failures.push({ line, fault: read.fault })
      continue
    }
    const earlier = repeated.add(read.value, line)
    if (earlier !== undefined) {
      failures.push({ line, fault: { reason: 'repeated', earlier: earlier.line } })
      continue
    }
    lines.push({ line, json: JSON.stringify(read.value) })
    if (givesPlan(read.value)) plans += 1
  }
  const of = plans === 0 ? 'quotas' : plans === lines.length ? 'plans' : 'both'
  return { about: 'quotas', lines, of, failures }
}
