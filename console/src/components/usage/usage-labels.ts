import { countryLabel } from '../../formats.ts'
import type { Group, Measure } from './usage-state.ts'

export const MEASURE_LABELS: Record<Measure, { label: string; about: string }> = {
  committed: { label: 'Committed', about: 'Sent and charged' },
  refunded: { label: 'Refunded', about: 'Units returned after sending' },
  denied: { label: 'Denied', about: 'Rejected by quota' },
  unfunded: { label: 'Unfunded', about: 'Committed without a grant' },
}

export const GROUP_LABELS: Record<Group, string> = { country: 'Country', message_type: 'Message type', quota: 'Quota' }

/** Labels of items without a group. */
const NONE: Record<Group, string> = { country: 'No country', message_type: 'No type', quota: 'No grant' }

/** The label of a group. @param names of the user's quotas, by id */
export function groupLabel(group: Group, key: string | number | null, names: ReadonlyMap<number, string>): string {
  if (key === null) return NONE[group]
  if (group === 'country') return countryLabel(String(key))
  return group === 'quota' ? (names.get(Number(key)) ?? `Grant ${key}`) : String(key)
}
