import type { ValidationIssue } from '../../errors.ts'
import { type EpochMs, formatTimestamp, formatTimestampOrNull } from '../time/time.ts'
import type { Evidence } from './breaker.ts'

/** Who makes pauses: a person, or the breaker against pumped traffic. */
export const PAUSE_ORIGINS = ['breaker', 'person'] as const
export type PauseOrigin = (typeof PAUSE_ORIGINS)[number]

/** A pause: messages to a country that are denied for a time, of one user or of all. */
export interface Pause {
  id: number
  /** Null: all users. */
  user_id: number | null
  /** ISO 3166 alpha-2, or `001`. */
  country: string
  /** Null: messages of all types, and of none. */
  message_types: readonly string[] | null
  /** Exclusive. Null: until it is lifted. */
  until: EpochMs | null
  reason: string | null
  origin: PauseOrigin
  /** The figures that made the breaker pause; null if a person did. */
  evidence: Evidence | null
  /** The breaker would have paused the destination, and only observed: it is lifted from the beginning. */
  observed: boolean
  created_at: EpochMs
  created_by: string
  lifted_at: EpochMs | null
  lifted_by: string | null
}

/** A request to pause. */
export type PauseDraft = Omit<Pause, 'id' | 'created_at' | 'created_by' | 'lifted_at' | 'lifted_by'>

export function pauseIssues({ until }: PauseDraft, now: EpochMs): ValidationIssue[] {
  return until !== null && until <= now ? [{ path: '/until', message: 'must be in the future' }] : []
}

/** A pause that is not lifted, as far as decisions need it. */
export type UnliftedPause = Pick<Pause, 'id' | 'user_id' | 'country' | 'message_types' | 'until' | 'reason'>

/**
 * Pauses by country, and then by user; null: all users. A message is looked up twice at most, however many other destinations
 * are paused.
 */
export type PausesByCountry = ReadonlyMap<string, ReadonlyMap<number | null, readonly UnliftedPause[]>>

export const NO_PAUSES: PausesByCountry = new Map()

export function pausesByCountry(pauses: readonly UnliftedPause[]): PausesByCountry {
  const ofCountries = Map.groupBy(pauses, ({ country }) => country)
  return new Map([...ofCountries].map(([country, some]) => [country, Map.groupBy(some, ({ user_id }) => user_id)]))
}

/** What decides whether a message is paused; see `DrawCommand`. */
interface Destined {
  readonly user_id: number
  readonly country: string | null
  readonly other_countries?: readonly string[]
  readonly message_type: string | null
}

/**
 * The pause that denies a message, of several the one that lasts longest. A number of a shared calling code is paused with any
 * country that it may belong to, as caps count it.
 */
export function pausedBy(
  pauses: PausesByCountry,
  { user_id, country, other_countries = [], message_type }: Destined,
  now: EpochMs,
): UnliftedPause | undefined {
  if (pauses.size === 0 || country === null) return undefined
  let longest: UnliftedPause | undefined
  for (const code of [country, ...other_countries]) {
    const ofCountry = pauses.get(code)
    if (ofCountry === undefined) continue
    for (const user of [user_id, null]) {
      for (const pause of ofCountry.get(user) ?? []) {
        if (isOver(pause, now) || !covers(pause, message_type)) continue
        if (longest === undefined || endOf(pause) > endOf(longest)) longest = pause
      }
    }
  }
  return longest
}

/** Whether messages of all users and all types to a country are paused. */
export function isPausedForAll(pauses: PausesByCountry, country: string, now: EpochMs): boolean {
  const ofAllUsers = pauses.get(country)?.get(null) ?? []
  return ofAllUsers.some(pause => pause.message_types === null && !isOver(pause, now))
}

/** A user's paused destinations, as the summary lists them. */
export function pausesOf(pauses: PausesByCountry, userId: number, now: EpochMs): UnliftedPause[] {
  return [...pauses.values()]
    .flatMap(ofCountry => [userId, null].flatMap(user => ofCountry.get(user) ?? []))
    .filter(pause => !isOver(pause, now))
    .toSorted(
      (one, other) => (one.country < other.country ? -1 : Number(one.country > other.country)) || one.id - other.id,
    )
}

const endOf = ({ until }: Pick<Pause, 'until'>) => until ?? Number.POSITIVE_INFINITY
const isOver = (pause: Pick<Pause, 'until'>, now: EpochMs) => endOf(pause) <= now

/** A pause of some types holds only for messages that name one of them, as a quota counts. */
function covers({ message_types }: UnliftedPause, type: string | null): boolean {
  return message_types === null || (type !== null && message_types.includes(type))
}

export function isActive(pause: Pick<Pause, 'until' | 'lifted_at'>, now: EpochMs): boolean {
  return pause.lifted_at === null && !isOver(pause, now)
}

/** A pause as the API shows it at `now`. */
export function pauseViewOf({ until, created_at, lifted_at, ...pause }: Pause, now: EpochMs) {
  return {
    ...pause,
    until: formatTimestampOrNull(until),
    active: isActive({ until, lifted_at }, now),
    created_at: formatTimestamp(created_at),
    lifted_at: formatTimestampOrNull(lifted_at),
  }
}
