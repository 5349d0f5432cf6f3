import { countryLabel } from '../country.ts'
import type { Group, Measure } from './usage-state.ts'

/** What each measure is called, and what it means. */
export const MEASURE_WORDS: Record<Measure, { label: string; about: string }> = {
  committed: { label: 'Committed', about: 'Sent, and counted' },
  refunded: { label: 'Refunded', about: 'Sent in vain, given back' },
  denied: { label: 'Denied', about: 'Asked for and not granted' },
  unfunded: { label: 'Unfunded', about: 'Committed, paid by no grant' },
}

export const GROUP_WORDS: Record<Group, string> = { country: 'Country', message_type: 'Message type', quota: 'Quota' }

/** What the items without a group are called. */
const NONE: Record<Group, string> = { country: 'No country told', message_type: 'No type told', quota: 'No grant' }

/** What a group is called. @param names of the user's quotas, by id */
export function groupLabel(group: Group, key: string | number | null, names: ReadonlyMap<number, string>): string {
  if (key === null) return NONE[group]
  if (group === 'country') return countryLabel(String(key))
  return group === 'quota' ? (names.get(Number(key)) ?? `Grant ${key}`) : String(key)
}
