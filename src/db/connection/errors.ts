/** The meaning of errors of PostgreSQL and of a cluster. */
import pg from 'pg'

/** The codes of errors that decide what follows, by their names in PostgreSQL. */
export const SQLSTATE = {
  featureNotSupported: '0A000',
  invalidParameterValue: '22023',
  divisionByZero: '22012',
  uniqueViolation: '23505',
  checkViolation: '23514',
  readOnlyTransaction: '25006',
  invalidSqlStatementName: '26000',
  invalidPassword: '28P01',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  insufficientPrivilege: '42501',
  undefinedColumn: '42703',
  undefinedTable: '42P01',
  duplicatePreparedStatement: '42P05',
  diskFull: '53100',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  internalError: 'XX000',
} as const

/** PostgreSQL's five-character error code; undefined if the error is not PostgreSQL's. */
export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** Whether a statement ran longer than it may. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlStateOf(error) === SQLSTATE.queryCanceled
}

/** Whether the rows of this statement are the problem, and not the database: it took too long, or met other writers. */
export function concernsRows(error: unknown): boolean {
  return isStatementTimeout(error) || isLockNotAvailable(error) || isTransactionRollback(error)
}

/** Whether another transaction has held a lock for longer than the statement may wait. */
export function isLockNotAvailable(error: unknown): boolean {
  return sqlStateOf(error) === SQLSTATE.lockNotAvailable
}

/** Whether the server refuses the values: out of range, malformed, or against a constraint. */
export function isDataError(error: unknown): boolean {
  return /^2[23]/.test(sqlStateOf(error) ?? '')
}

const ROLLBACKS: ReadonlySet<string> = new Set([SQLSTATE.serializationFailure, SQLSTATE.deadlockDetected])

/** The server rolled the transaction back because of another one. */
export const isTransactionRollback = (error: unknown) => ROLLBACKS.has(sqlStateOf(error) ?? '')

/** A statement timeout, a lock timeout, and a server that became a read-only standby. */
const TRANSIENT: ReadonlySet<string> = new Set([
  SQLSTATE.queryCanceled,
  SQLSTATE.lockNotAvailable,
  SQLSTATE.readOnlyTransaction,
])

/**
 * Whether a transaction that writes could not begin, since the server is a standby. The code says only that a feature is missing, and the
 * text depends on the server's language: the place in the server says it.
 */
const refusesToBegin = ({ code, routine }: pg.DatabaseError) =>
  code === SQLSTATE.featureNotSupported && routine === 'call_bool_check_hook'

/** How the coordinator of a cluster reports that a node has ended, or its own server: as internal errors. */
const ENDED = /^(postmaster was shut down|failure on connection marked as essential|server closed the connection)/

/** Whether an error of the server says only that it cannot serve now. */
export function reportsOutage(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false
  const { code = '', message } = error
  if (refusesToBegin(error)) return true
  if (code === SQLSTATE.internalError) return ENDED.test(message)
  return /^(08|28|3D|53|57P|58|25P03|25P04)/.test(code) || TRANSIENT.has(code) || isTransactionRollback(error)
}

/**
 * The name of the unique constraint or index that a statement violated; undefined for any other error. A node of a cluster has
 * the number of the shard's table behind the name, and may say it only in its message.
 */
export function violatedUnique(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined
  // A coordinator that copies rows to their nodes passes on the text of an error without its code.
  const isUnique =
    error.code === SQLSTATE.uniqueViolation ||
    (error.code === SQLSTATE.internalError && /^duplicate key .* "\w+"$/.test(error.message))
  if (!isUnique) return undefined
  return (error.constraint ?? /"(\w+)"/.exec(error.message)?.[1])?.replace(/_\d{5,}$/, '')
}

/**
 * Whether the server closes the connection behind the error. A cluster's coordinator reports the lost connection of a node as
 * its own error, and goes on.
 */
export function endsConnection(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || error.severity === 'ERROR') return false
  return /^(08|57P|25P03|25P04)/.test(error.code ?? '')
}

/**
 * Whether an error that answers COMMIT leaves open what became of the transaction. A deferred constraint (class 23) and a
 * serialization failure (class 40) roll it back. Any other error may come from one node of a cluster while another has
 * committed already.
 */
export function leavesCommitOpen(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(23|40)/.test(error.code ?? '')
}

/** The message of an error, or what it has instead of one. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
