import type { Database, Transaction } from '../../db/connection/database.ts'

/** What a transaction is rolled back with, so that a refused change leaves nothing. */
class Refused extends Error {}

/**
 * Runs a change in a transaction that it may have written in before it is refused: a lock makes the account of a user who had none, and who
 * would be listed from then on.
 *
 * @param change gets what refuses: it throws, which undoes the transaction
 * @param whenUndone makes the outcome of a refusal, in the end
 */
export async function undoRefused<Outcome>(
  db: Pick<Database, 'transaction'>,
  change: (tx: Transaction, refuse: (outcome: Outcome) => never) => Promise<Outcome>,
  whenUndone = async (refusal: Outcome): Promise<Outcome> => refusal,
): Promise<Outcome> {
  let refusal: { outcome: Outcome } | undefined
  try {
    return await db.transaction(tx =>
      change(tx, outcome => {
        refusal = { outcome }
        throw new Refused('the change is refused')
      }),
    )
  } catch (error) {
    if (error instanceof Refused && refusal !== undefined) return whenUndone(refusal.outcome)
    throw error
  }
}
