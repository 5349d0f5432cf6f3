/** The meaning of errors of PostgreSQL and of a cluster. */
import pg from 'pg'

/**
 * The name of the unique constraint or index that a statement violated; undefined for any other error. A node of a cluster has
 * the number of the shard's table behind the name, and may say it only in its message.
 */
export function violatedUnique(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined
  // A coordinator that copies rows to their nodes passes on the text of an error without its code.
  const isUnique = error.code === '23505' || (error.code === 'XX000' && /^duplicate key .* "\w+"$/.test(error.message))
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

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
