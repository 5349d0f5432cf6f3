/** Who made and settled the reservations that a batch's commands find. Other commands do without. */
import { authorshipsIn, loadAuthorship } from '../db/ledger/load-authorship.ts'
import type { LedgerCall, Scope } from '../db/ledger/statement.ts'
import type { StatementResult } from '../db/pipelined-connection.ts'
import type { Command, Outcome } from '../domain/command.ts'
import { namedBy } from './user-states.ts'

interface Batch extends Scope {
  readonly commands: readonly Command[]
}

/** The call that reads it; none if nothing is found. */
export function findsOf(batch: Batch, outcomes: readonly Outcome[]): LedgerCall[] {
  const found = batch.commands.filter(({ op }, index) => op === 'find' && outcomes[index]?.outcome === 'found')
  return found.length === 0 ? [] : [loadAuthorship.call(batch, namedBy(found))]
}

/** The outcomes with what the call has read. */
export function withAuthorship(
  { commands }: Batch,
  outcomes: readonly Outcome[],
  result: StatementResult | undefined,
): Outcome[] {
  const read = new Map(authorshipsIn(result).map(({ user_id, id, ...authorship }) => [`${user_id} ${id}`, authorship]))
  return outcomes.map((outcome, index) => {
    const command = commands[index]
    const authorship = command?.op === 'find' ? read.get(`${command.user_id} ${command.id}`) : undefined
    return outcome.outcome === 'found' && authorship !== undefined ? { ...outcome, authorship } : outcome
  })
}
