import { isExtra } from '../../../src/domain/extra-grant.ts'
import type { Api } from '../api/types.ts'
import { dayOf } from './local-time.ts'

type Event = Api['Event']

/** What a new quota is for: a cap of 0 blocks, and an extra grant adds to another one for a time. */
export type Purpose = 'grant' | 'cap' | 'block' | 'extra'

export function purposeOf(quota: Api['SmsQuota']): Purpose {
  if (quota.kind === 'cap') return quota.limit === 0 ? 'block' : 'cap'
  return isExtra(quota) ? 'extra' : 'grant'
}

/** What the activity feed counts events by: the day, what happened, and who did it. */
export function kindOf({ type, at, data }: Event): string {
  const parts = [dayOf(at), type]
  if (type === 'quota.created') parts.push(purposeOf(data.quota))
  if (type === 'quota.created' || type === 'quota.updated' || type === 'quota.deleted')
    parts.push(data.quota.updated_by ?? '')
  if (type === 'quota.threshold_reached') parts.push(String(Math.min(100, data.percent)))
  return parts.join(' ')
}

/** What is known of the events that the console follows. */
export interface KnownEvents {
  /** Newest first, at most `MAX_KEPT`. */
  events: readonly Event[]
  /** How many older events there were of the kinds of these, by kind. */
  older: ReadonlyMap<string, number>
  /** Number of events since the console began to follow them. */
  count: number
  /** How many events were read, those before the console began to follow them included. */
  read: number
}

const MAX_KEPT = 50

export const NO_EVENTS: KnownEvents = { events: [], older: new Map(), count: 0, read: 0 }

/** The events with further ones. @param items oldest first */
export function withNew(feed: KnownEvents, items: readonly Event[]): KnownEvents {
  const { events, older, count, read } = feed
  const all = [...items.toReversed(), ...events]
  const kept = all.slice(0, MAX_KEPT)
  const counts = new Map(older)
  for (const event of all.slice(MAX_KEPT)) counts.set(kindOf(event), (counts.get(kindOf(event)) ?? 0) + 1)
  const kinds = new Set(kept.map(kindOf))
  const ofShown = new Map([...counts].filter(([kind]) => kinds.has(kind)))
  return { events: kept, older: ofShown, count: count + items.length, read: read + items.length }
}
