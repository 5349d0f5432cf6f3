import type { Sql } from '../connection/sql.ts'
import { addActions } from './add-actions.ts'
import { addAlerts } from './add-alerts.ts'
import { addDenials } from './add-denials.ts'
import { addNumberedEvents, advanceOutbox } from './add-events.ts'
import { addReservations } from './add-reservations.ts'
import { addUsage } from './add-usage.ts'
import { checkAbsent } from './check-absent.ts'
import { checkQuotas } from './check-quotas.ts'
import { checkReservations } from './check-reservations.ts'
import { closeWindows } from './close-windows.ts'
import { correctWindows } from './correct-windows.ts'
import {
  allAccounts,
  allQuotas,
  allReservations,
  freeAccounts,
  freeQuotas,
  freeReservations,
} from './find-locked-rows.ts'
import { incrementCounters } from './increment-counters.ts'
import { loadAuthorship } from './load-authorship.ts'
import { readEndedQuotas } from './load-ended-quotas.ts'
import { selectQuotaDetails } from './load-quota-details.ts'
import { loadDrawnQuotas, loadQuotas, readDrawnQuotas, readQuotas } from './load-quotas.ts'
import { loadReservations } from './load-reservations.ts'
import { fenceQuotas, lockAccounts, waitForLocks, writeAccounts } from './lock-accounts.ts'
import { lockQuotas } from './lock-quotas.ts'
import { markAlerted } from './mark-alerted.ts'
import { markRetaken } from './mark-retaken.ts'
import { addPrincipals, loadLastPrincipal, loadPrincipals } from './principals.ts'
import { rollQuotas } from './roll-quotas.ts'
import { settleReservations } from './settle-reservations.ts'

const STATEMENTS = [
  waitForLocks,
  lockAccounts,
  writeAccounts,
  fenceQuotas,
  loadQuotas,
  readQuotas,
  loadDrawnQuotas,
  readDrawnQuotas,
  readEndedQuotas,
  loadReservations,
  loadAuthorship,
  addPrincipals,
  loadPrincipals,
  loadLastPrincipal,
  checkAbsent,
  checkQuotas,
  checkReservations,
  lockQuotas,
  incrementCounters,
  rollQuotas,
  markAlerted,
  addAlerts,
  closeWindows,
  correctWindows,
  settleReservations,
  addReservations,
  markRetaken,
  addActions,
  addUsage,
  addDenials,
  selectQuotaDetails,
  advanceOutbox,
  addNumberedEvents,
  allAccounts,
  allQuotas,
  allReservations,
  freeAccounts,
  freeQuotas,
  freeReservations,
]

/** The text of every statement of the engine by its name, to be prepared on its connections. */
export const LEDGER_STATEMENTS: Readonly<Record<string, Sql>> = Object.fromEntries(
  STATEMENTS.map(({ name, text }) => [name, text]),
)
