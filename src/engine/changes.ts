import type { PipelinedConnection } from '../db/connection/pipelined-connection.ts'
import type { Changes, Unchanged } from '../db/ledger/changes.ts'
import { loadQuotaDetails } from '../db/ledger/load-quota-details.ts'
import type { Stored } from '../db/ledger/rows.ts'
import type { Scope } from '../db/ledger/statement.ts'
import { closingOf, type OutboxEvent, thresholdsOf } from '../domain/events/outbox-event.ts'
import { EXHAUSTED, newAlerts } from '../domain/quotas/alerts.ts'
import type { Allowance } from '../domain/quotas/quota.ts'
import type { Correction, Draft } from '../domain/units/draft.ts'
import type { Reservation } from '../domain/units/reservation.ts'
import { byPlace, counterOf } from '../domain/units/value-counter.ts'
import type { BatchAuthorship } from './authorship.ts'
import type { UserState } from './user-states.ts'

/** The rows that a batch changes and those that it leaves, and what its events need beside them. */
export interface BatchChanges extends Changes {
  alerted: (Changes['alerted'][number] & { readonly ofUser: readonly Allowance[] })[]
  /** Reservations, among those settled, that time has closed. */
  expired: { before: Reservation; after: Reservation }[]
  readonly unchanged: Unchanged
}

export function noChanges(): BatchChanges {
  return {
    incremented: [],
    rolled: [],
    closed: [],
    corrected: [],
    counted: [],
    added: [],
    settled: [],
    actions: [],
    extended: [],
    retaken: [],
    alerted: [],
    usage: [],
    denied: [],
    expired: [],
    unchanged: { quotas: [], reservations: [] },
  }
}

/** Adds the difference between a user's state and the draft that the decisions made of it. */
export function addChanges(
  changes: BatchChanges,
  { quotas, reservations, counters }: UserState,
  draft: Draft,
  authorship: BatchAuthorship,
  firstSeq: number,
): void {
  for (const [index, before] of quotas.entries()) {
    const after = draft.quotas[index]
    if (after === undefined) throw new RangeError('a draft has lost a quota')
    addQuotaChange(changes, before, after, draft.quotas)
  }
  changes.closed.push(...draft.closed.sort(byQuotaAndWindow))
  for (const correction of draft.corrections.sort(byQuotaAndWindow)) {
    if (correction.used !== 0 || correction.reserved !== 0) changes.corrected.push(correction)
  }
  if (draft.valueCaps.size > 0) addCounters(changes, counters, draft)
  for (const entry of draft.usage) changes.usage.push({ ...entry, sender: authorship.idOf(entry.sender) })
  for (const id of draft.retaken.sort()) changes.retaken.push({ user_id: draft.user_id, id })
  for (const reservation of sortedById(draft.reservations)) {
    addReservationChange(changes, reservations.get(reservation.id), reservation, authorship, firstSeq)
    const before = reservations.get(reservation.id)
    if (before !== undefined && draft.extended.includes(reservation.id))
      changes.extended.push({ ...reservation, seq: before.seq })
  }
}

/** Those that the batch drew on, also if it gave all back: what was granted was granted on what was read. */
function addCounters(changes: BatchChanges, stored: UserState['counters'], { valueCaps }: Draft): void {
  const drawn = [...valueCaps].filter(([, { isDrawn }]) => isDrawn)
  const counters = drawn.map(([place, cap]) => ({ ...counterOf(cap), seq: stored.get(place)?.seq ?? 0 }))
  changes.counted.push(...counters.sort(byPlace))
}

function addQuotaChange(
  changes: BatchChanges,
  before: Stored<Allowance>,
  after: Allowance,
  ofUser: readonly Allowance[],
): void {
  const used = after.used - before.used
  const reserved = after.reserved - before.reserved
  const marks = newAlerts(before, after)
  if (marks.length > 0) changes.alerted.push({ quota: { ...after, seq: before.seq }, marks, ofUser })
  if (after.window_no !== before.window_no) changes.rolled.push({ ...after, seq: before.seq })
  else if (used !== 0 || reserved !== 0 || marks.length > 0) changes.incremented.push({ quota: before, used, reserved })
  else changes.unchanged.quotas.push(before)
}

/** A draft keeps the very object of a reservation that it does not change. */
function addReservationChange(
  changes: BatchChanges,
  before: Stored<Reservation> | undefined,
  after: Reservation,
  { authorsOf }: BatchAuthorship,
  firstSeq: number,
): void {
  if (before === undefined) changes.added.push({ ...after, ...authorsOf(after), seq: firstSeq })
  else if (before === after) changes.unchanged.reservations.push(before)
  else {
    changes.settled.push({ ...after, ...authorsOf(after), seq: before.seq })
    if (after.expired && !before.expired) changes.expired.push({ before, after })
  }
}

/** Most users of a batch have one reservation in it. */
function sortedById(reservations: ReadonlyMap<string, Reservation>): Iterable<Reservation> {
  return reservations.size < 2 ? reservations.values() : [...reservations.values()].sort(byId)
}

type WindowKey = Pick<Correction, 'quota_id' | 'window_no'>

function byQuotaAndWindow(one: WindowKey, other: WindowKey): number {
  return one.quota_id - other.quota_id || one.window_no - other.window_no
}

function byId(one: Reservation, other: Reservation): number {
  return one.id < other.id ? -1 : 1
}

/**
 * The events of a batch, in order. It reads the details of quotas that have reached thresholds, the only cost in a batch
 * of rare events. That read needs no lock: any change of those details gives the quota a new `seq`, which is guarded.
 */
export async function eventsOf(
  connection: PipelinedConnection,
  scope: Scope,
  { alerted, expired }: BatchChanges,
): Promise<OutboxEvent[]> {
  const events = expired.map(({ before, after }) => closingOf(before, after))
  const reached = alerted.filter(({ marks }) => marks.some(mark => mark !== EXHAUSTED))
  if (reached.length === 0) return events
  const quotas = await loadQuotaDetails(
    connection,
    scope,
    reached.map(({ quota }) => quota),
  )
  for (const [index, quota] of quotas.entries()) {
    const { marks = [], ofUser = [] } = reached[index] ?? {}
    events.push(...thresholdsOf(quota, marks, ofUser, scope.now))
  }
  return events
}
