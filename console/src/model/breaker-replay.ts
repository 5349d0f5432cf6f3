import type { Api } from '../api/types.ts'
import type { BreakerValues } from './breaker-form.ts'

/** What the breaker would have paused in the past, as the pages of a replay add it up. */

export type ReplayedPause = Api['ReplayedPause']

/** Pauses that are listed: a browser is slow with tens of thousands. */
export const MAX_LISTED = 1_000

export interface Replayed {
  /** The part of the users that was read: from 0 to 1. */
  progress: number
  /** Countries of users, and how often they would have been paused. */
  destinations: number
  pauses: number
  /** Messages that would not have left, and those of them whose codes were entered. */
  stopped: number
  entered: number
  /** Those that would have stopped most entered codes come first. */
  listed: readonly ReplayedPause[]
  /** The destination of the last pause. */
  last: string | null
}

export const NOTHING_REPLAYED: Replayed = {
  ...{ progress: 0, destinations: 0, pauses: 0, stopped: 0, entered: 0 },
  listed: [],
  last: null,
}

/** Adds a page. A destination's pauses follow each other. What always passes would not have been paused. */
export function addReplayed(
  before: Replayed,
  { items, progress }: Pick<Api['ReplayPage'], 'items' | 'progress'>,
  { pass_countries, pass_users }: Pick<BreakerValues, 'pass_countries' | 'pass_users'>,
): Replayed {
  const sum = { ...before, progress }
  const found = items.filter(
    ({ country, user_id }) => !pass_countries.includes(country) && !pass_users.includes(user_id),
  )
  for (const { user_id, country, stopped, stopped_verified } of found) {
    const destination = `${user_id} ${country}`
    if (destination !== sum.last) sum.destinations++
    sum.last = destination
    sum.pauses++
    sum.stopped += stopped
    sum.entered += stopped_verified
  }
  sum.listed = [...before.listed, ...found]
    .toSorted((one, other) => other.stopped_verified - one.stopped_verified || other.stopped - one.stopped)
    .slice(0, MAX_LISTED)
  return sum
}
