import { expect } from 'vitest'
import type { Allowance } from '../../src/domain/quotas/quota.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'
import { createDraft, type Draft, rolledQuotaAt } from '../../src/domain/units/draft.ts'
import type { Draw, Reservation } from '../../src/domain/units/reservation.ts'

/**
 * What a database would hold of one user. A store is immutable: committing a draft returns a new one, so that a test can
 * continue from the same state in several ways.
 */
export interface Store {
  readonly quotas: readonly Allowance[]
  /** Closed windows, by `quota:window`. */
  readonly windows: ReadonlyMap<string, StoredWindow>
  readonly reservations: ReadonlyMap<string, Reservation>
  /** Initial counters, which no reservation accounts for, by `quota:window`. */
  readonly opening: ReadonlyMap<string, Counters>
}

export interface Counters {
  used: number
  reserved: number
}

interface StoredWindow extends Counters {
  /** Units that may be drawn in it; Infinity when unlimited. */
  max: number
  carried: number
}

export function openStore(quotas: readonly Allowance[]): Store {
  const opening = quotas.map(
    ({ id, window_no, used, reserved }) => [keyOf({ quota_id: id, window_no }), { used, reserved }] as const,
  )
  return deepFrozen({ quotas, windows: new Map(), reservations: new Map(), opening: new Map(opening) })
}

const keyOf = ({ quota_id, window_no }: { quota_id: number; window_no: number }) => `${quota_id}:${window_no}`

/** A draft of everything in the store. It is frozen, so that a decision which changes its input throws. */
export function draftOf(store: Store): Draft {
  return createDraft(store.quotas[0]?.user_id ?? 0, store.quotas, store.reservations.values())
}

/** The store after the draft's transaction; the same store if nothing changes. */
export function commit(store: Store, draft: Draft): Store {
  if (isUntouched(store, draft)) return store
  const windows = new Map(store.windows)
  for (const { used, reserved, carried, ...closed } of draft.closed) {
    const key = keyOf(closed)
    expect(windows.has(key), `window ${key} closed once`).toBe(false)
    windows.set(key, { used, reserved, carried, max: maxOf(closed) })
  }
  for (const correction of draft.corrections) {
    const key = keyOf(correction)
    const window = store.windows.get(key)
    // The statement that corrects windows finds only windows closed by earlier batches; otherwise the batch fails.
    if (window === undefined) throw new Error(`window ${key} is corrected, but was not closed before`)
    const used = window.used + correction.used
    windows.set(key, { ...window, used, reserved: window.reserved + correction.reserved })
  }
  return deepFrozen({ ...store, quotas: draft.quotas, windows, reservations: draft.reservations })
}

function isUntouched({ quotas, reservations }: Store, draft: Draft): boolean {
  if (draft.closed.length > 0 || draft.corrections.length > 0 || draft.reservations.size > reservations.size)
    return false
  for (const [id, reservation] of draft.reservations) if (reservations.get(id) !== reservation) return false
  return quotas.every((before, index) => {
    const after = draft.quotas[index]
    const fields = Object.keys(before) as (keyof Allowance)[]
    return after !== undefined && fields.every(name => before[name] === after[name])
  })
}

/** The store after an administrator's change of a quota, which is rolled first, as in every write. */
export function change(store: Store, quotaId: number, fields: Partial<Allowance>, now: EpochMs): Store {
  const draft = draftOf(store)
  const index = draft.quotas.findIndex(quota => quota.id === quotaId)
  draft.quotas[index] = { ...rolledQuotaAt(draft, index, now), ...fields }
  return commit(store, draft)
}

/** Counters of every current and closed window, by `quota:window`, and the units it may hold. */
export function countersOf({ quotas, windows }: Store): Map<string, Counters & { max: number }> {
  const counters = new Map<string, Counters & { max: number }>(windows)
  for (const quota of quotas) {
    const { id, window_no, used, reserved } = quota
    counters.set(`${id}:${window_no}`, { used, reserved, max: maxOf(quota) })
  }
  return counters
}

function maxOf({ limit, rolled_over, overage_limit }: Pick<Allowance, 'limit' | 'rolled_over' | 'overage_limit'>) {
  return limit === null ? Number.POSITIVE_INFINITY : limit + rolled_over + overage_limit
}

/**
 * Fails unless the ledger is consistent: the units of every reservation add up, its draws cover the right ranges, and
 * every counter is the sum over the reservations, counted here unit by unit.
 */
export function audit(store: Store): void {
  const counted = new Map<string, Counters>()
  for (const [key, { used, reserved }] of store.opening) counted.set(key, { used, reserved })
  for (const reservation of store.reservations.values()) {
    expectUnitsAddUp(reservation)
    expectRanges(reservation)
    for (const draw of reservation.draws) countUnits(counted, reservation, draw)
  }
  const stored = new Map<string, Counters>()
  for (const [key, { used, reserved }] of countersOf(store)) stored.set(key, { used, reserved })
  for (const key of stored.keys()) if (!counted.has(key)) counted.set(key, { used: 0, reserved: 0 })
  expect(Object.fromEntries([...stored].sort())).toEqual(Object.fromEntries([...counted].sort()))
}

/** Fails if a quota's window exceeds its limit, which only forced commands and a lowered limit may cause. */
export function expectNothingOversold(store: Store): void {
  for (const [key, { used, reserved, max }] of countersOf(store)) {
    expect(used + reserved, `units in window ${key}`).toBeLessThanOrEqual(max)
  }
}

/** The first (committed − refunded) units are used, the next outstanding ones reserved. */
function countUnits(counted: Map<string, Counters>, reservation: Reservation, draw: Draw): void {
  const key = `${draw.quota_id}:${draw.window_no}`
  const counters = counted.get(key) ?? { used: 0, reserved: 0 }
  const { units, committed, released, refunded } = reservation
  const outstanding = units - committed - released
  for (let unit = draw.from; unit < draw.to; unit++) {
    if (unit < committed - refunded) counters.used += 1
    else if (unit < committed - refunded + outstanding) counters.reserved += 1
  }
  counted.set(key, counters)
}

/** units = committed + released + outstanding, none of them negative, and refunded ≤ committed. More than were asked for are all committed. */
function expectUnitsAddUp({ units, committed, released, refunded, asked }: Reservation): void {
  expect(Math.min(units, committed, released, refunded, committed - refunded)).toBeGreaterThanOrEqual(0)
  expect(committed + released).toBeLessThanOrEqual(units)
  if (units > asked) expect(committed).toBe(units)
}

/** The ranges of grants follow each other from 0 on; every cap's range is all units. */
function expectRanges({ units, draws }: Reservation): void {
  let end = 0
  for (const { kind, from, to } of draws) {
    expect([from, to - from > 0, to <= units]).toEqual([kind === 'grant' ? end : 0, true, true])
    if (kind === 'cap') expect(to).toBe(units)
    else end = to
  }
  const kinds = draws.map(({ kind }) => kind)
  expect(kinds, 'the grants before the caps').toEqual(kinds.toSorted().toReversed())
}

function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const parts: unknown[] = value instanceof Map ? [...value.values()] : Object.values(value)
  for (const part of parts) deepFrozen(part)
  return Object.freeze(value)
}
