import { DAY_MS } from '../../../src/domain/time/time.ts'
import type { Api } from '../api/types.ts'
import { toFieldText, toTimestamp } from './local-time.ts'
import { wholeNumber } from './typed.ts'

/** Users ask for more units, and administrators decide. */

export type IncreaseRequest = Api['IncreaseRequest']

type Grant = Pick<Api['SmsQuota'], 'id' | 'kind' | 'name' | 'limit' | 'status' | 'window_end'>

/**
 * The grants that a user can ask more units for: those that count now and have a limit, oldest first. Users read no metadata, so extra
 * grants are known by the names that the service gives them; of others it says that they get no units.
 */
export function increasableGrants<Q extends Grant>(quotas: readonly Q[]): Q[] {
  return quotas
    .filter(({ kind, limit, status }) => kind === 'grant' && limit !== null && LIVE.has(status))
    .filter(({ name }) => name?.startsWith(EXTRA) !== true)
    .toSorted((one, other) => one.id - other.id)
}

/** `EXTRA_NAME` of the domain. Imported, it would be an English text on start pages in German. */
const EXTRA = 'Extra units for'
const LIVE: ReadonlySet<Api['SmsQuota']['status']> = new Set(['active', 'exhausted'])

/** How long the units are needed: while the current window lasts, for a day, or for good. */
const DURATIONS = ['window', 'day', 'always'] as const
export type Duration = (typeof DURATIONS)[number]

/** What can be chosen. A grant that neither resets nor ends has no window that ends. */
export function durationsOf({ window_end }: Pick<Grant, 'window_end'>): readonly Duration[] {
  return window_end === null ? DURATIONS.filter(duration => duration !== 'window') : DURATIONS
}

/** What is typed into the form of a request. */
export interface Asked {
  units: string
  duration: Duration
  reason: string
}

/** What the form asks the service for. */
export function draftOf({ units, duration, reason }: Asked, { id, window_end }: Grant, now: number) {
  const until = { window: window_end, day: new Date(now + DAY_MS).toISOString(), always: null }[duration]
  return { quota_id: id, units: wholeNumber(units), until, reason: reason.trim() }
}

/** What is typed into the form of an approval; `until` as a field of time has it, empty for good. */
export interface Approval {
  units: string
  until: string
  note: string
}

/** An approval of all that was asked for. */
export function fullApproval({ units, until }: Pick<IncreaseRequest, 'units' | 'until'>): Approval {
  return { units: String(units), until: toFieldText(until), note: '' }
}

/** What an approval says to the service. What was not changed is left out, because fields cut a time to seconds. */
export function approvalOf(approval: Approval, request: Pick<IncreaseRequest, 'units' | 'until'>) {
  const asked = fullApproval(request)
  const { units, until } = approval
  return {
    ...(units.trim() === asked.units ? {} : { units: wholeNumber(units) }),
    ...(until === asked.until ? {} : { until: until === '' ? null : toTimestamp(until) }),
    ...noteOf(approval),
  }
}

/** A note that the user reads; none is left out. */
export function noteOf({ note }: Pick<Approval, 'note'>): { note?: string } {
  return note.trim() === '' ? {} : { note: note.trim() }
}

/**
 * The open requests of a user, and then those that were decided in the last 24 hours: staff who asked for them look for the answer. One
 * that is in both lists was decided after the open ones were read.
 */
export function currentRequests(open: readonly IncreaseRequest[], latest: readonly IncreaseRequest[], now: number) {
  const decided = latest.filter(({ decided_at }) => decided_at !== null && Date.parse(decided_at) > now - DAY_MS)
  const ids = new Set(decided.map(({ id }) => id))
  return [...open.filter(({ id }) => !ids.has(id)), ...decided]
}

/** Whether a caller decides a request: those who give at most `bound` units decide no more than they could give. */
export function canDecide({ units }: Pick<IncreaseRequest, 'units'>, bound: number | null): boolean {
  return bound === null || units <= bound
}
