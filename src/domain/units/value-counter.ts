import { canonicalRecipient } from '../messages/recipient.ts'
import { type Allowance, roll } from '../quotas/quota.ts'
import type { CountedValue } from '../quotas/quota-settings.ts'
import { type Calendar, calendarOf } from '../time/period.ts'
import type { EpochMs } from '../time/time.ts'
import { nextBoundary } from '../time/window.ts'
import type { DrawCommand } from './command.ts'
import type { Reservation } from './reservation.ts'

/** The count of one value in one window, of a cap that counts each value by itself. One that is not stored is 0. */
export interface ValueCounter {
  quota_id: number
  window_start: EpochMs
  /** The calendar's boundary. */
  window_end: EpochMs
  /** The hash of the value. */
  key: bigint
  used: number
  reserved: number
}

/** The place of a counter. */
export type CounterPlace = Pick<ValueCounter, 'quota_id' | 'window_start' | 'key'>

export const placeOf = ({ quota_id, window_start, key }: CounterPlace): string => `${quota_id} ${window_start} ${key}`

/** The order in which counters of a user are written. */
export function byPlace(one: CounterPlace, other: CounterPlace): number {
  if (one.quota_id !== other.quota_id) return one.quota_id - other.quota_id
  if (one.key !== other.key) return one.key < other.key ? -1 : 1
  return one.window_start - other.window_start
}

/** Such a cap as a request meets it: in one window, with the counters of the request's value. */
export interface ValueCap extends Allowance {
  key: bigint
  /** Whether the batch has drawn on it: it is written even if all was given back. */
  isDrawn: boolean
}

/** The hash of what a request says of a value; null: it says nothing. */
export type KeyOf = (value: CountedValue, command: DrawCommand) => bigint | null

/** What is stored of it. */
export function counterOf({ id, window_start, window_end, key, used, reserved }: ValueCap): ValueCounter {
  if (window_end === null) throw new Error(`quota ${id} counts a value in a window without an end`)
  return { quota_id: id, window_start, window_end, key, used, reserved }
}

/** What a command says of a value that caps count each by itself. */
export function countedValueOf(of: CountedValue, { recipient, country, tag }: DrawCommand): string | null {
  if (of === 'recipient') return recipient === undefined ? null : canonicalRecipient(recipient)
  return { country, tag: tag?.normalize('NFC') }[of] ?? null
}

/** A quota that counts each value by itself. */
export type CapPerValue = Allowance & Calendar & { per: CountedValue }

export function isPerValue(quota: Allowance): quota is CapPerValue {
  return quota.per !== null && calendarOf(quota) !== null
}

/** When a window that began at a time ends. It is the calendar that says it: a process whose clock is behind says the same. */
export function windowEndOf(cap: CapPerValue, windowStart: EpochMs): EpochMs {
  return nextBoundary(cap, windowStart)
}

/** The places of the counters that commands on a user ask about at `now`, or may change. A place may come more than once. */
export function* openPlaces(
  { quotas, reservations }: { quotas: readonly Allowance[]; reservations: ReadonlyMap<string, Reservation> },
  commands: readonly DrawCommand[],
  keyOf: KeyOf,
  now: EpochMs,
): Generator<CounterPlace> {
  for (const cap of quotas.filter(isPerValue)) {
    const { window_start } = roll(cap, now).quota
    for (const command of commands) {
      const key = keyOf(cap.per, command)
      if (key !== null) yield { quota_id: cap.id, window_start, key }
    }
    for (const { draws } of reservations.values())
      for (const { quota_id, window_start: start, key } of draws)
        if (quota_id === cap.id && key !== undefined && windowEndOf(cap, start) > now)
          yield { quota_id, window_start: start, key }
  }
}
