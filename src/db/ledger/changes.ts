import type { Correction } from '../../domain/draft.ts'
import type { Allowance, ClosedWindow } from '../../domain/quota.ts'
import type { Reservation } from '../../domain/reservation.ts'
import type { UsageEntry } from '../../domain/usage.ts'
import { addReservations } from './add-reservations.ts'
import { addUsage } from './add-usage.ts'
import { checkQuotas } from './check-quotas.ts'
import { closeWindows } from './close-windows.ts'
import { correctWindows } from './correct-windows.ts'
import { type CounterIncrement, incrementCounters } from './increment-counters.ts'
import { byUserAndId, lockQuotas } from './lock-quotas.ts'
import { markAlerted, type ReachedThresholds } from './mark-alerted.ts'
import { rollQuotas } from './roll-quotas.ts'
import type { Stored } from './rows.ts'
import { settleReservations } from './settle-reservations.ts'
import type { LedgerCall, LedgerStatement, Scope } from './statement.ts'

/** What a batch writes, of all its users. Each list is sorted by user and id; windows by user, quota and number. */
export interface Changes {
  incremented: CounterIncrement[]
  rolled: Stored<Allowance>[]
  /** Quotas that the decisions read and left as they were. */
  unchanged: Stored<Allowance>[]
  closed: (ClosedWindow & { quota_id: number })[]
  corrected: Correction[]
  added: Reservation[]
  settled: Stored<Reservation>[]
  /** Quotas, among those incremented and rolled, that have reached thresholds. */
  alerted: ReachedThresholds[]
  usage: UsageEntry[]
}

/** The calls that write the changes, in order: one for each list that is not empty, and at times a lock before them. */
export function writeChanges(scope: Scope, changes: Changes): LedgerCall[] {
  const calls: LedgerCall[] = []
  const add = <Row>(statement: LedgerStatement<Row>, rows: readonly Row[]) => {
    if (rows.length > 0) calls.push(statement.call(scope, rows))
  }
  const { rolled, incremented } = changes
  if (rolled.length > 0 && incremented.length > 0) {
    add(lockQuotas, [...rolled, ...incremented.map(({ quota }) => quota)].sort(byUserAndId))
  }
  add(rollQuotas, rolled)
  add(incrementCounters, incremented)
  add(checkQuotas, changes.unchanged)
  add(markAlerted, changes.alerted)
  add(closeWindows, changes.closed)
  add(correctWindows, changes.corrected)
  add(settleReservations, changes.settled)
  add(addReservations, changes.added)
  add(addUsage, changes.usage)
  return calls
}
