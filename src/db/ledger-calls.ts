import type { EpochMs } from '../domain/time.ts'
import type { Transaction } from './database.ts'
import { type Changes, type LedgerCall, noChanges, writeSteps } from './ledger/changes.ts'
import { LEDGER_STATEMENTS } from './ledger/statements.ts'

/** Statements of the ledger, run in a transaction of an administrator's change or of a job. */

/** Writes to the ledger of one shard what an administrator's change comes to. */
export async function writeLedger(
  tx: Transaction,
  shard: number,
  changes: Partial<Changes>,
  now: EpochMs,
): Promise<void> {
  await runLedgerCalls(tx, writeSteps(shard, { ...noChanges(), ...changes }, now, false))
}

export async function runLedgerCalls(tx: Transaction, calls: readonly LedgerCall[]): Promise<void> {
  for (const { name, values } of calls) await tx.query({ text: LEDGER_STATEMENTS[name], values })
}

/** Locks the accounts of those users whose account no other transaction has locked, and returns these users. */
export async function lockFreeAccounts(tx: Transaction, shard: number, users: readonly number[]): Promise<number[]> {
  const rows = await tx.query<{ user_id: number }>({
    text: LEDGER_STATEMENTS['free-accounts'],
    values: [shard, users],
  })
  return rows.map(({ user_id }) => user_id)
}
