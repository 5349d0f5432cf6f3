import type { Allowance, ClosedWindow } from '../../domain/quotas/quota.ts'
import { quotaAlertsOf } from '../../domain/quotas/quota-alert.ts'
import type { Correction } from '../../domain/units/draft.ts'
import type { Reservation } from '../../domain/units/reservation.ts'
import type { ValueCounter } from '../../domain/units/value-counter.ts'
import { addDenials, type DenialRow } from './add-denials.ts'
import { addUsage, type BookedUsage } from './add-usage.ts'
import { addAlerts, markAlerted, type ReachedMarks } from './alerts.ts'
import { type CounterIncrement, incrementCounters, rollQuotas } from './counters.ts'
import { checkAbsent, checkQuotas, checkReservations } from './guards.ts'
import type { ReservationKey } from './keys.ts'
import { byUserAndId, lockQuotas } from './locks.ts'
import type { Authors } from './reservation-rows.ts'
import type { Stored } from './rows.ts'
import type { LedgerCall, LedgerStatement, Scope } from './statement.ts'
import { writeCounters } from './value-counters.ts'
import { closeWindows, correctWindows } from './windows.ts'
import {
  addActions,
  addReservations,
  extendReservations,
  markRetaken,
  type ReservationAction,
  settleReservations,
} from './write-reservations.ts'

/** The rows that a batch writes, of all its users. Each list is sorted by user and id; windows by user, quota and number. */
export interface Changes {
  incremented: CounterIncrement[]
  rolled: Stored<Allowance>[]
  closed: (ClosedWindow & { quota_id: number })[]
  corrected: Correction[]
  /** Counters of single values, with the `seq` that was read; by user, quota, key and window. */
  counted: Stored<ValueCounter>[]
  added: (Stored<Reservation> & Authors)[]
  settled: (Stored<Reservation> & Authors)[]
  /** Forced bookings and refunds, of those added and settled. */
  actions: readonly ReservationAction[]
  /** Reservations, among those settled, that a forced commit made larger. */
  extended: Stored<Reservation>[]
  /** Reservations, among those added and settled, whose released units a forced commit has taken again. */
  retaken: ReservationKey[]
  /** Quotas, among those incremented and rolled, that have reached marks. */
  alerted: ReachedMarks[]
  usage: BookedUsage[]
  /** Denials to be logged, in the order of their commands: nothing waits for these rows. */
  denied: DenialRow[]
}

/** The rows that a batch's decisions read and left as they were. */
export interface Unchanged {
  quotas: Stored<Allowance>[]
  reservations: Stored<Reservation>[]
}

/** The calls that write the changes, in order: one for each list that is not empty, and at times a lock before them. */
export function writeChanges(scope: Scope, changes: Changes): LedgerCall[] {
  const { rolled, incremented } = changes
  const quotas = [...rolled, ...incremented.map(({ quota }) => quota)]
  return [
    ...(rolled.length > 0 && incremented.length > 0 ? [lockQuotas.call(scope, quotas.sort(byUserAndId))] : []),
    ...callFor(scope, rollQuotas, rolled),
    ...callFor(scope, incrementCounters, incremented),
    ...callFor(scope, markAlerted, changes.alerted),
    ...callFor(
      scope,
      addAlerts,
      changes.alerted.flatMap(({ quota, marks }) => quotaAlertsOf(quota, marks)),
    ),
    ...callFor(scope, closeWindows, changes.closed),
    ...callFor(scope, correctWindows, changes.corrected),
    ...callFor(scope, writeCounters, changes.counted),
    ...callFor(scope, extendReservations, changes.extended),
    ...callFor(scope, settleReservations, changes.settled),
    ...callFor(scope, addReservations, changes.added),
    ...callFor(scope, markRetaken, changes.retaken),
    ...callFor(scope, addActions, changes.actions),
    ...callFor(scope, addUsage, changes.usage),
    ...callFor(scope, addDenials, changes.denied),
  ]
}

/**
 * The call that fails if reservations exist that the decisions took to be new and did not make. Before the writes: another
 * command of the batch may make one of them.
 */
export function guardAbsent(scope: Scope, reservations: readonly ReservationKey[]): LedgerCall[] {
  return callFor(scope, checkAbsent, reservations)
}

/** The calls that fail unless what was read is still so. Behind the writes: these wait for locks, and see what came then. */
export function guardUnchanged(scope: Scope, { quotas, reservations }: Unchanged): LedgerCall[] {
  return [...callFor(scope, checkQuotas, quotas), ...callFor(scope, checkReservations, reservations)]
}

function callFor<Row>(scope: Scope, statement: LedgerStatement<Row>, rows: readonly Row[]): LedgerCall[] {
  return rows.length > 0 ? [statement.call(scope, rows)] : []
}
