/** What callers asked and were answered, and which rows strangers held meanwhile. Times are of `performance.now()`. */
import { isDeepStrictEqual } from 'node:util'
import type { EpochMs } from '../../../src/domain/time/time.ts'

/** A reservation as an answer shows it. */
export interface ShownReservation {
  units: number
  committed: number
  released: number
  refunded: number
  draws: { quota_id: number; kind: string; units: number; window_start: string }[]
}

/** One id of one user. */
export interface Entry {
  readonly user: number
  readonly id: string
  readonly op: 'reserve' | 'consume'
  readonly body: {
    readonly recipient?: string | undefined
    readonly tag?: string | undefined
    readonly country?: string | undefined
    readonly message_type?: string | undefined
  }
  readonly asked: number
  readonly onExpiry: 'release' | 'commit'
  readonly allowsPart: boolean
  readonly force: boolean
  /** The calls that may create it: how many were begun, and how many of those have no final answer yet. */
  begun: number
  open: number
  /** The reservation as its owner's last answer showed it; undefined: never granted. */
  shown: ShownReservation | undefined
  /** When outstanding units expire, on the services' clock; undefined if no answer showed outstanding units. */
  expiresAt: EpochMs | undefined
  /** When it was first requested. */
  readonly begunAt: number
  /** When an answer first showed it, and last. */
  firstShownAt: number
  shownAt: number
  /** When an answer last showed something new; the change itself may be older by an outage. */
  changedAt: number
}

/** What the test exercises, in the order of its report. Each must occur in every run. */
export const KINDS = [
  'granted',
  'granted in part',
  'forced',
  'forced without account',
  'denied by a cap',
  'denied by a cap on each value',
  'denied by grants',
  'denied without quota',
  'denied by a pause',
  'denied by a pause that all processes know',
  'replayed',
  'closed',
  'twins',
  'twins without unknown outcome',
  'settlements by twins',
  'batches',
  'committed',
  'released',
  'refunded',
  'settled in part',
  'verified',
  'expired',
  'checks granted',
  'checks denied',
  'found',
  'not found',
  'changes of quotas',
  'pauses lifted',
  'trips of the breaker',
  'codes entered',
  'transfers',
  'plans of users',
  'roll-outs',
  'unanswered',
  'unavailable',
  'unavailable while held',
  'answered beside held rows',
  'accounts held',
  'quotas held',
  'backends cancelled',
  'verifications',
] as const

type Kind = (typeof KINDS)[number]

/** A stretch of time; it ends at infinity while it lasts. */
interface Interval {
  readonly from: number
  to: number
}

/** A pause, from when on it was certainly made, until a caller began to lift it, or its time is over. */
export interface KnownPause {
  readonly id: number
  /** Null: all users. */
  readonly user: number | null
  readonly country: string
  readonly types: readonly string[] | null
  readonly madeAt: number
  endedAt: number
  /** When a caller was answered that it is lifted. */
  liftedAt: number
}

/** A message that was denied because of a pause, and when that answer's attempt began. */
interface PausedMessage {
  readonly entry: Entry
  readonly pause: number
  readonly begunAt: number
}

/** A call that was answered with 503, or not at all. */
interface UnavailableCall extends Interval {
  readonly user: number
  readonly answer: string
}

export interface RunRecord {
  readonly entries: Map<string, Entry>
  readonly counts: Record<Kind, number>
  count(kind: Kind, number?: number): void
  /** Answers that confirmed a change. */
  acknowledged: number
  /** Answers that contradict earlier answers, or themselves. */
  readonly contradictions: string[]
  /** Records what an answer shows. `isOwners`: the answer is for the only caller that settles it, so no number may go down. */
  note(entry: Entry, reservation: ShownReservation & { expires_at?: string | null }, isOwners: boolean): void
  /** The quotas that denials named as the limit, by id: whose they must be, and of which kind. */
  readonly limiting: Map<number, { user: number; kind: 'cap' | 'grant' }>
  /** Rows that strangers held locked: from before the lock, which they got at `lockedAt`, until after its end. */
  readonly holds: (Interval & { readonly user: number; lockedAt: number })[]
  /** Transfers that were answered, by id: what the giver's window counts. */
  readonly transfers: Map<number, { quota_id: number; window_start: string; units: number; returned: number }>
  /** Calls of administrators that change quotas of a user, whose rows they lock in between. */
  readonly changes: (Interval & { readonly user: number })[]
  /** When backends of the engine were killed, at which its commits may have an unknown outcome. */
  readonly losses: number[]
  /** Ids with two answers that claim to be the first, after such a loss (see `mayBeFirstAgain`). */
  readonly firstAgain: string[]
  /** When nothing was killed or cancelled, and every process had recovered. */
  readonly calms: Interval[]
  readonly unavailable: UnavailableCall[]
  /** Pauses that administrators and the breaker made. */
  readonly pauses: KnownPause[]
  readonly paused: PausedMessage[]
  /** When the test could not read the pauses in time, so that no process could. */
  readonly blind: Interval[]
  /** Quotas whose limit was lowered, by id. */
  readonly lowered: Set<number>
  /** Caps that count each recipient or tag by itself, by id. No one changes them. */
  readonly valueCaps: Map<number, { per: 'recipient' | 'tag'; counts: 'units' | 'messages'; limit: number }>
  /** Caps over everything a user sends: from the answer that created each until a caller began to change it. */
  readonly caps: { id: number; user: number; madeAt: number; endedAt: number }[]
}

/** Whether every call that might have created the reservation is answered, and none granted it. */
export function isDenied({ begun, open, shown }: Entry): boolean {
  return begun > 0 && open === 0 && shown === undefined
}

export function createRunRecord(): RunRecord {
  const contradictions: string[] = []
  const counts = Object.fromEntries(KINDS.map(kind => [kind, 0])) as Record<Kind, number>
  return {
    entries: new Map(),
    contradictions,
    counts,
    count(kind, number = 1) {
      counts[kind] += number
    },
    acknowledged: 0,
    note(entry, reservation, isOwners) {
      const before = entry.shown
      const shown = shownOf(reservation)
      if (before !== undefined && ((isOwners && goesBack(before, shown)) || !isSame(before, shown))) {
        contradictions.push(`${entry.user} ${entry.id}: ${JSON.stringify(before)} then ${JSON.stringify(shown)}`)
      }
      entry.shownAt = performance.now()
      if (before === undefined) entry.firstShownAt = entry.shownAt
      if (!isDeepStrictEqual(shown, before)) entry.changedAt = entry.shownAt
      if (isOwners || before === undefined) entry.shown = shown
      if (typeof reservation.expires_at === 'string') entry.expiresAt = Date.parse(reservation.expires_at)
    },
    limiting: new Map(),
    transfers: new Map(),
    holds: [],
    changes: [],
    losses: [],
    firstAgain: [],
    calms: [],
    unavailable: [],
    pauses: [],
    paused: [],
    blind: [],
    lowered: new Set(),
    valueCaps: new Map(),
    caps: [],
  }
}

function shownOf({ units, committed, released, refunded, draws }: ShownReservation): ShownReservation {
  return {
    ...{ units, committed, released, refunded },
    draws: draws.map(({ quota_id, kind, units, window_start }) => ({ quota_id, kind, units, window_start })),
  }
}

/** Whether a number that only grows is less than before. */
export function goesBack(before: ShownReservation, after: ShownReservation): boolean {
  return (['committed', 'released', 'refunded'] as const).some(name => after[name] < before[name])
}

/** Whether two answers describe the same reservation: its units, and what pays for them, never change. */
function isSame(one: ShownReservation, other: ShownReservation): boolean {
  return one.units === other.units && isDeepStrictEqual(one.draws, other.draws)
}
