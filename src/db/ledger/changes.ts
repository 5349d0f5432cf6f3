import { newAlerts } from '../../domain/alerts.ts'
import type { Correction, Draft } from '../../domain/draft.ts'
import type { Allowance, ClosedWindow } from '../../domain/quota.ts'
import type { Reservation } from '../../domain/reservation.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time.ts'
import { type UsageEntry, usageBucketOf } from '../../domain/usage.ts'
import type { Step } from '../pipelined-connection.ts'
import { numbers, texts, timestamps } from './arrays.ts'
import { type Stored, writeDraws } from './rows.ts'
import type { LEDGER_STATEMENTS } from './statements.ts'

/** What a batch changes, of all its users. Each list is sorted by user and id. */
export interface Changes {
  moved: { quota: Stored<Allowance>; used: number; reserved: number }[]
  rolled: Stored<Allowance>[]
  /** Looked at, left alone. */
  passed: Stored<Allowance>[]
  closed: (ClosedWindow & { quota_id: number })[]
  corrected: Correction[]
  added: Reservation[]
  settled: Stored<Reservation>[]
  /** Quotas, among those moved and rolled, that have reached percents to be told. */
  alerted: { quota: Stored<Allowance>; percents: readonly number[] }[]
  /** Reservations, among those settled, that time has closed. */
  expired: { before: Reservation; after: Reservation }[]
  usage: UsageEntry[]
}

/** The difference between what was known of a user and what a draft has made of it, added to a batch's changes. */
export function addChanges(
  changes: Changes,
  quotas: readonly Stored<Allowance>[],
  reservations: ReadonlyMap<string, Stored<Reservation>>,
  draft: Draft,
): void {
  for (const [index, before] of quotas.entries()) {
    const after = draft.quotas[index]
    if (after === undefined) throw new RangeError('a draft has lost a quota')
    const used = after.used - before.used
    const reserved = after.reserved - before.reserved
    const percents = newAlerts(before, after)
    if (percents.length > 0) changes.alerted.push({ quota: { ...after, seq: before.seq }, percents })
    if (after.window_no !== before.window_no) changes.rolled.push({ ...after, seq: before.seq })
    else if (used !== 0 || reserved !== 0 || percents.length > 0) changes.moved.push({ quota: before, used, reserved })
    else changes.passed.push(before)
  }
  changes.closed.push(...draft.closed.values())
  changes.corrected.push(
    ...[...draft.corrections.values()].filter(({ used, reserved }) => used !== 0 || reserved !== 0),
  )
  changes.usage.push(...draft.usage)
  for (const reservation of [...draft.reservations.values()].sort(byId)) {
    const before = reservations.get(reservation.id)
    if (before === undefined) changes.added.push(reservation)
    else if (before !== reservation) {
      changes.settled.push({ ...reservation, seq: before.seq })
      if (reservation.expired && !before.expired) changes.expired.push({ before, after: reservation })
    }
  }
}

function byId(one: Reservation, other: Reservation): number {
  return one.id < other.id ? -1 : 1
}

/** How `usage_pending` tells what happened. */
const USAGE_KINDS = { committed: 0, refunded: 1, denied: 2 }

export function noChanges(): Changes {
  const counters = { moved: [], rolled: [], passed: [], closed: [], corrected: [] }
  return { ...counters, added: [], settled: [], alerted: [], expired: [], usage: [] }
}

/** A step whose statement is one of the ledger's. */
export interface LedgerCall extends Step {
  name: keyof typeof LEDGER_STATEMENTS
}

/** The statements that make the changes. With `guardPassed`, what was only looked at must not have changed either. */
export function writeSteps(shard: number, changes: Changes, now: EpochMs, guardPassed: boolean): LedgerCall[] {
  const { moved, rolled, passed, closed, corrected, added, settled, alerted, usage } = changes
  const steps: LedgerCall[] = []
  const add = (name: keyof typeof LEDGER_STATEMENTS, ...values: (string | null)[]) =>
    steps.push({ name, values: [String(shard), ...values] })

  if (rolled.length > 0) {
    add(
      'roll-quotas',
      numbers(rolled, quota => quota.user_id),
      numbers(rolled, quota => quota.id),
      numbers(rolled, quota => quota.seq),
      numbers(rolled, quota => quota.used),
      numbers(rolled, quota => quota.reserved),
      numbers(rolled, quota => quota.rolled_over),
      numbers(rolled, quota => quota.window_no),
      timestamps(rolled, quota => quota.window_start),
      timestamps(rolled, quota => quota.window_end),
      String(rolled.length),
    )
  }
  if (moved.length > 0) {
    add(
      'move-counters',
      numbers(moved, ({ quota }) => quota.user_id),
      numbers(moved, ({ quota }) => quota.id),
      numbers(moved, ({ quota }) => quota.seq),
      numbers(moved, ({ used }) => used),
      numbers(moved, ({ reserved }) => reserved),
      String(moved.length),
    )
  }
  if (guardPassed && passed.length > 0) {
    add(
      'check-quotas',
      numbers(passed, quota => quota.user_id),
      numbers(passed, quota => quota.id),
      numbers(passed, quota => quota.seq),
      String(passed.length),
    )
  }
  if (alerted.length > 0) {
    add(
      'mark-alerted',
      numbers(alerted, ({ quota }) => quota.user_id),
      numbers(alerted, ({ quota }) => quota.id),
      numbers(alerted, ({ quota }) => quota.seq + 1),
      texts(alerted, ({ quota }) => numbers(quota.alerted, percent => percent)),
      String(alerted.length),
    )
  }
  if (closed.length > 0) {
    add(
      'close-windows',
      numbers(closed, window => window.quota_id),
      numbers(closed, window => window.window_no),
      timestamps(closed, window => window.window_start),
      timestamps(closed, window => window.window_end),
      numbers(closed, window => window.limit),
      numbers(closed, window => window.overage_limit),
      numbers(closed, window => window.rolled_over),
      numbers(closed, window => window.used),
      numbers(closed, window => window.reserved),
      numbers(closed, window => window.carried),
    )
  }
  if (corrected.length > 0) {
    add(
      'correct-windows',
      numbers(corrected, window => window.quota_id),
      numbers(corrected, window => window.window_no),
      numbers(corrected, window => window.used),
      numbers(corrected, window => window.reserved),
      String(corrected.length),
    )
  }
  if (settled.length > 0) {
    add(
      'settle-reservations',
      numbers(settled, reservation => reservation.user_id),
      texts(settled, reservation => reservation.id),
      numbers(settled, reservation => reservation.seq),
      numbers(settled, reservation => reservation.committed),
      numbers(settled, reservation => reservation.released),
      numbers(settled, reservation => reservation.refunded),
      texts(settled, reservation => String(reservation.expired)),
      formatTimestamp(now),
      String(settled.length),
    )
  }
  if (added.length > 0) {
    add(
      'add-reservations',
      numbers(added, reservation => reservation.user_id),
      texts(added, reservation => reservation.id),
      texts(added, reservation => reservation.op),
      numbers(added, reservation => reservation.asked),
      texts(added, reservation => reservation.country),
      texts(added, reservation => reservation.message_type),
      texts(added, reservation => String(reservation.allow_partial)),
      texts(added, reservation => String(reservation.force)),
      numbers(added, reservation => reservation.units),
      numbers(added, reservation => reservation.committed),
      numbers(added, reservation => reservation.released),
      numbers(added, reservation => reservation.refunded),
      texts(added, reservation => reservation.on_expiry),
      texts(added, reservation => String(reservation.expired)),
      texts(added, reservation => writeDraws(reservation.draws)),
      timestamps(added, reservation => reservation.expires_at),
      formatTimestamp(now),
    )
  }
  if (usage.length > 0) {
    add(
      'add-usage',
      formatTimestamp(usageBucketOf(now)),
      numbers(usage, entry => entry.user_id),
      numbers(usage, entry => entry.quota_id),
      texts(usage, entry => entry.country),
      texts(usage, entry => entry.message_type),
      numbers(usage, entry => USAGE_KINDS[entry.kind]),
      numbers(usage, entry => entry.units),
      numbers(usage, entry => entry.messages),
    )
  }
  return steps
}
