import type { StatementResult } from '../db/connection/pipelined-connection.ts'
import type { ReservationKey } from '../db/ledger/keys.ts'
import { authorshipsIn, loadAuthorship } from '../db/ledger/load-authorship.ts'
import type { Authors } from '../db/ledger/reservation-rows.ts'
import type { LedgerCall } from '../db/ledger/statement.ts'
import type { ReservationAction } from '../db/ledger/write-reservations.ts'
import type { Command, Outcome } from '../domain/units/command.ts'
import { spentOf } from '../domain/units/reservation.ts'
import type { PrincipalIds } from './principals.ts'
import { type BatchScope, namedBy } from './user-states.ts'

/** The makers and settlers of a batch's reservations, and the recorded actions. */
export interface BatchAuthorship {
  authorsOf(reservation: ReservationKey): Authors
  /** The id of a principal in the dictionary; null if it has none, or there is no principal. */
  idOf(principal: string | null): number | null
  /** Sorted like all rows of a batch. */
  readonly actions: readonly ReservationAction[]
}

const NO_AUTHORS: Authors = { made_by: null, settled_by: null }

/** Whether the command has an effect of its own. */
export function isNew(outcome: Outcome | undefined): boolean {
  return (outcome?.outcome === 'granted' || outcome?.outcome === 'settled') && !outcome.replayed
}

/**
 * The authors by what the commands came to. A command that met a reservation past its expiry and closed it is not its
 * author: the outcome says so.
 */
export function authorshipOf(
  commands: readonly Command[],
  outcomes: readonly Outcome[],
  ids: PrincipalIds,
): BatchAuthorship {
  const idOf = (principal: string | null) => (principal === null ? null : (ids.get(principal) ?? null))
  const authors = new Map<string, Authors>()
  const actions: ReservationAction[] = []
  for (const [index, command] of commands.entries()) {
    const outcome = outcomes[index]
    const { origin, op, user_id, id } = command
    // Feedback settles no units.
    if (origin === undefined || op === 'check' || op === 'feedback' || !isNew(outcome)) continue
    const principal = idOf(origin.principal)
    const key = keyOf(command)
    const { made_by, settled_by } = authors.get(key) ?? NO_AUTHORS
    authors.set(key, {
      made_by: op === 'reserve' || op === 'consume' ? principal : made_by,
      settled_by: op === 'reserve' ? settled_by : principal,
    })
    const recorded = recordedOf(command, outcome)
    if (recorded !== null) actions.push({ user_id, id, ...recorded, principal, request_id: origin.requestId })
  }
  const authorsOf = (reservation: ReservationKey) => authors.get(keyOf(reservation)) ?? NO_AUTHORS
  return { authorsOf, idOf, actions: actions.sort(byKey) }
}

function recordedOf(
  command: Command,
  outcome: Outcome | undefined,
): Pick<ReservationAction, 'action' | 'total_units'> | null {
  if (outcome === undefined || !('reservation' in outcome)) return null
  const { reservation } = outcome
  if (command.op === 'refund') return { action: 'refund', total_units: reservation.refunded }
  return 'force' in command && command.force ? { action: 'force', total_units: spentOf(reservation) } : null
}

const keyOf = ({ user_id, id }: ReservationKey) => `${user_id} ${id}`

function byKey(one: ReservationAction, other: ReservationAction): number {
  if (one.user_id !== other.user_id) return one.user_id - other.user_id
  if (one.id !== other.id) return one.id < other.id ? -1 : 1
  if (one.action !== other.action) return one.action < other.action ? -1 : 1
  return one.total_units - other.total_units
}

/** The call that reads it; none if nothing is found. */
export function loadAuthorshipOfFound(batch: BatchScope, outcomes: readonly Outcome[]): LedgerCall[] {
  const found = batch.commands.filter(({ op }, index) => op === 'find' && outcomes[index]?.outcome === 'found')
  return found.length === 0 ? [] : [loadAuthorship.call(batch, namedBy(found))]
}

/** The outcomes with what the call has read. */
export function withAuthorship(
  { commands }: BatchScope,
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
