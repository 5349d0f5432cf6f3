import { isExtra } from '../../../src/domain/extra-grant.ts'
import { CONTINUED_BY, RAISED_FROM } from '../../../src/domain/raised-cap.ts'
import type { Api } from '../api/types.ts'
import { dayOf } from './local-time.ts'
import { raiseOf } from './raised-cap.ts'

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
  /** Newest first: those of at most `MAX_LINES` lines, and of each the newest `MAX_OF_LINE`. */
  events: readonly Event[]
  /** How many older events there were of the kinds of these, by kind. */
  older: ReadonlyMap<string, number>
  /** Number of events since the console began to follow them. */
  count: number
  /** How many events were read, those before the console began to follow them included. */
  read: number
}

/** Lines of the activity feed. */
const MAX_LINES = 50

/** Events that a line lists, so that an import of any size takes no more of the page. */
const MAX_OF_LINE = 10

export const NO_EVENTS: KnownEvents = { events: [], older: new Map(), count: 0, read: 0 }

/** The events with further ones. They are grouped before the list is cut: what is done to many is one line. @param items oldest first */
export function withNew(feed: KnownEvents, items: readonly Event[]): KnownEvents {
  const { events, older, count, read } = feed
  const all = [...items.toReversed(), ...events]
  const lines = linesOf(all, older).slice(0, MAX_LINES)
  const kept = new Set(lines.flatMap(line => line.events.slice(0, MAX_OF_LINE)))
  const counts = new Map(older)
  for (const event of all) {
    if (!kept.has(event)) counts.set(kindOf(event), (counts.get(kindOf(event)) ?? 0) + 1)
  }
  const kinds = new Set([...kept].map(kindOf))
  return {
    events: all.filter(event => kept.has(event)),
    older: new Map([...counts].filter(([kind]) => kinds.has(kind))),
    count: count + items.length,
    read: read + items.length,
  }
}

/* ── Lines ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/** This many events of one kind on one day are one line. */
const MIN_GROUP = 3

/** What the activity feed shows as one line. */
export interface EventLine {
  /** Stays the same while events are added. */
  key: string
  events: readonly Event[]
  /** How many more there were, which the feed has not kept. */
  older: number
  /** Whether the first event tells what all of them did. */
  isOneAction: boolean
}

/**
 * The raise of a cap with its steps, and else the events by kind and day, in the order of the newest of each line. Small
 * groups stay single events.
 */
export function linesOf(events: readonly Event[], olderByKind: KnownEvents['older']): EventLine[] {
  const stepsByRaise = new Map(events.map(event => [event, stepsOf(event, events)]))
  const steps = new Set([...stepsByRaise.values()].flatMap(found => found ?? []))
  const others = events.filter(event => stepsByRaise.get(event) === null && !steps.has(event))
  const groups = Map.groupBy(others, kindOf)
  return events.flatMap((event): EventLine[] => {
    const stepsOfEvent = stepsByRaise.get(event) ?? null
    if (stepsOfEvent !== null) return [{ key: event.id, events: [event, ...stepsOfEvent], older: 0, isOneAction: true }]
    if (steps.has(event)) return []
    const kind = kindOf(event)
    const [group, older] = [groups.get(kind) ?? [], olderByKind.get(kind) ?? 0]
    if (group.length + older < MIN_GROUP) return [{ key: event.id, events: [event], older: 0, isOneAction: false }]
    return group[0] === event ? [{ key: kind, events: group, older, isOneAction: false }] : []
  })
}

/** Steps that are further apart are not of one action. */
const ACTION_MS = 60_000

/**
 * The earlier steps of raising a cap for its current window only: another cap was made to follow it, and it was to end before.
 * Null for an event that is not the last step, the raise.
 */
function stepsOf(event: Event, events: readonly Event[]): Event[] | null {
  if (event.type !== 'quota.updated' || raiseOf(event.data.quota) === null) return null
  const { id, updated_by, metadata } = event.data.quota
  return events.filter(step => {
    if (step.type !== 'quota.created' && step.type !== 'quota.updated') return false
    const { quota } = step.data
    const isOfBoth = (quota.id === id && RAISED_FROM in quota.metadata) || String(quota.id) === metadata[CONTINUED_BY]
    const age = Date.parse(event.at) - Date.parse(step.at)
    return isOfBoth && quota.updated_by === updated_by && raiseOf(quota) === null && age >= 0 && age < ACTION_MS
  })
}
