import { CONTINUED_BY, RAISED_FROM } from '../../../src/domain/forecasts/raised-cap.ts'
import { isExtra } from '../../../src/domain/quotas/extra-grant.ts'
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

/** This many events of one kind on one day are one line. */
const MIN_GROUP = 3

/** What the activity feed shows as one line. */
export interface EventLine {
  /** Stays the same while events are added. */
  key: string
  events: readonly Event[]
  /** Whether the first event tells what all of them did. */
  isOneAction: boolean
}

/**
 * The raise of a cap with its steps, and else the events by kind and day, in the order of the newest of each line. Small
 * groups stay single events.
 */
export function linesOf(events: readonly Event[]): EventLine[] {
  const stepsByRaise = new Map(events.map(event => [event, stepsOf(event, events)]))
  const steps = new Set([...stepsByRaise.values()].flatMap(found => found ?? []))
  const others = events.filter(event => stepsByRaise.get(event) === null && !steps.has(event))
  const groups = Map.groupBy(others, kindOf)
  return events.flatMap((event): EventLine[] => {
    const stepsOfEvent = stepsByRaise.get(event) ?? null
    if (stepsOfEvent !== null) return [{ key: event.id, events: [event, ...stepsOfEvent], isOneAction: true }]
    if (steps.has(event)) return []
    const kind = kindOf(event)
    const group = groups.get(kind) ?? []
    if (group.length < MIN_GROUP) return [{ key: event.id, events: [event], isOneAction: false }]
    return group[0] === event ? [{ key: kind, events: group, isOneAction: false }] : []
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
