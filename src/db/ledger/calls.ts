import type { Transaction } from '../connection/database.ts'
import { type Sql, trustedSql } from '../connection/sql.ts'
import type { LedgerCall } from './statement.ts'

/** Statements of the ledger, run in a transaction of an administrator's change or of a job. */

export async function runLedgerCalls(tx: Transaction, calls: readonly LedgerCall[]): Promise<void> {
  for (const { text, values } of calls) await tx.query({ text: tx.isCluster ? routed(text) : text, values })
}

/** A cluster takes no key from an array in VALUES, which costs a server less than a select. */
function routed(text: Sql): Sql {
  return trustedSql(text.replace(/^(insert into \w+ \([^)]*\))\s+values \((.*)\)$/s, '$1 select $2'))
}
