import type { Shard } from '../domain/shard.ts'
import type { Transaction } from './database.ts'
import { freeAccounts } from './ledger/find-locked-rows.ts'
import type { LedgerCall } from './ledger/statement.ts'

/** Statements of the ledger, run in a transaction of an administrator's change or of a job. */

export async function runLedgerCalls(tx: Transaction, calls: readonly LedgerCall[]): Promise<void> {
  for (const { text, values } of calls) await tx.query({ text, values })
}

/** Locks the accounts of those users whose account no other transaction has locked, and returns these users. */
export async function lockFreeAccounts(tx: Transaction, shard: Shard, users: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ user_id: number }>({ text: freeAccounts.text, values: [users.map(() => shard), users] })
  return rows.map(({ user_id }) => user_id)
}
