import type { Sql } from '../connection/sql.ts'
import { addDenials } from './add-denials.ts'
import { addNumberedEvents, advanceOutbox } from './add-events.ts'
import { addUsage } from './add-usage.ts'
import { addAlerts, markAlerted } from './alerts.ts'
import { incrementCounters, rollQuotas } from './counters.ts'
import {
  allAccounts,
  allQuotas,
  allReservations,
  freeAccounts,
  freeQuotas,
  freeReservations,
} from './find-locked-rows.ts'
import { checkAbsent, checkQuotas, checkReservations } from './guards.ts'
import { loadAuthorship } from './load-authorship.ts'
import { readEndedQuotas } from './load-ended-quotas.ts'
import { selectQuotaDetails } from './load-quota-details.ts'
import { fenceQuotas, lockAccounts, lockQuotas, waitForLocks, writeAccounts } from './locks.ts'
import { addPrincipals, loadLastPrincipal, loadPrincipals } from './principals.ts'
import { loadDrawnQuotas, loadQuotas, readDrawnQuotas, readQuotas } from './quota-rows.ts'
import { readCards } from './rate-cards.ts'
import { loadReservations } from './reservation-rows.ts'
import { loadCounters, readCounters, writeCounters } from './value-counters.ts'
import { closeWindows, correctWindows } from './windows.ts'
import {
  addActions,
  addReservations,
  extendReservations,
  markRetaken,
  settleReservations,
} from './write-reservations.ts'

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
  loadCounters,
  readCounters,
  loadAuthorship,
  readCards,
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
  writeCounters,
  extendReservations,
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
