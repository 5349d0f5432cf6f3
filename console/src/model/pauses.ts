import type { Api } from '../api/types.ts'
import { toTimestamp } from './local-time.ts'
import { receiverOf } from './transfers.ts'

/** Pauses of destinations, as people make them. */

export type Pause = Api['Pause']
export type PausedDestination = Pick<Pause, 'id' | 'country' | 'message_types' | 'until'>

export type Evidence = NonNullable<Pause['evidence']>

/** The codes that made the breaker pause, of the period of the budget that they exceeded, and how many of them were entered. */
export function codesOf(evidence: Evidence): { period: Evidence['budget']; codes: number; entered: number } {
  const { budget: period, young, unverified_hour, unverified_day, verified_hour, verified_day } = evidence
  const entered = Math.round({ flight: 0, hour: verified_hour, day: verified_day }[period])
  const others = { flight: young, hour: young + unverified_hour, day: young + unverified_day }[period]
  return { period, codes: entered + Math.round(others), entered }
}

/** What is typed into the form of pauses. */
export interface PauseValues {
  who: 'one' | 'all'
  /** An id, or ref: and a reference. */
  user: string
  countries: string[]
  message_types: string[]
  /** As a field of time has it; empty for none. */
  until: string
  reason: string
}

export type PauseField = 'user_id' | 'country' | 'message_types' | 'until' | 'reason'

const TYPE = /^[a-z0-9][a-z0-9_-]{0,63}$/

export const isMessageType = (text: string): boolean => TYPE.test(text)

/** The fields that the service would refuse, or that people who meet the pause later need. */
export function wrongFields(values: PauseValues, now: number): PauseField[] {
  const { who, user, countries, message_types, until, reason } = values
  const wrong: PauseField[] = []
  if (who === 'one' && receiverOf(user) === null) wrong.push('user_id')
  if (countries.length === 0) wrong.push('country')
  if (!message_types.every(isMessageType)) wrong.push('message_types')
  if (until !== '' && !(Date.parse(until) > now)) wrong.push('until')
  if (reason.trim() === '') wrong.push('reason')
  return wrong
}

/** What each pause of the form has in common. */
export function pauseTerms({ message_types, until, reason }: PauseValues) {
  return {
    message_types: message_types.length === 0 ? null : message_types,
    until: until === '' ? null : toTimestamp(until),
    reason: reason.trim(),
  }
}

/** Whether a pause holds for a message. One of some types holds only for messages that name one of them. */
export function holdsFor(
  pause: Pick<PausedDestination, 'country' | 'message_types'>,
  { country, message_type }: { country: string | null; message_type: string | null },
): boolean {
  const { message_types: types } = pause
  return pause.country === country && (types === null || (message_type !== null && types.includes(message_type)))
}

/** The users whose messages to a country are paused, of all types; `all`: those of all users. */
export function pausedUsersOf(pauses: readonly Pick<Pause, 'user_id' | 'message_types'>[]): {
  all: boolean
  users: ReadonlySet<number>
} {
  const whole = pauses.filter(({ message_types }) => message_types === null)
  return {
    all: whole.some(({ user_id }) => user_id === null),
    users: new Set(whole.flatMap(({ user_id }) => user_id ?? [])),
  }
}
