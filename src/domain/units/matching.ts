import { type Allowance, effectiveTime, headroomOf, shownWindowEnd, statusOf } from '../quotas/quota.ts'
import { unitsOf } from '../rates/rate.ts'
import type { EpochMs } from '../time/time.ts'
import type { DrawCommand, Explanation } from './command.ts'
import { type Draft, type EndedQuota, rolledQuotaAt, valueCapAt } from './draft.ts'

/** A user's quotas, sorted by whether they count for a request. */
export interface Matches {
  /** Live and matching, in burn order. */
  grants: Allowance[]
  /** Live and matching, by id. One that counts each value by itself has the counters of the request's value, and its `key`. */
  caps: MatchedCap[]
  /** How many messages the request is for: what caps on messages count. */
  messages: number
  /** The others, and why they do not count. */
  skipped: { quota: Allowance; verdict: Explanation['verdict'] }[]
  /** Those that ended last, for explanations; some of them may be in `skipped`, too. */
  ended: readonly EndedQuota[]
}

export type MatchedCap = Allowance & { readonly key?: bigint }

/** Sorts the user's undeleted quotas, each rolled to `now`. */
export function matchQuotas(draft: Draft, command: DrawCommand, now: EpochMs): Matches {
  const { messages = 1 } = command
  const matches: Matches = { grants: [], caps: [], messages, skipped: [], ended: draft.ended }
  for (let index = 0; index < draft.quotas.length; index++) {
    const quota = rolledQuotaAt(draft, index, now)
    if (quota.deleted_at !== null) continue
    const verdict = mismatchOf(quota, command, effectiveTime(quota, now))
    if (verdict !== null) matches.skipped.push({ quota, verdict })
    else if (quota.kind === 'grant') matches.grants.push(quota)
    else if (quota.per === null) matches.caps.push(quota)
    else {
      const key = draft.keyOf(quota.per, command)
      if (key === null) matches.skipped.push({ quota, verdict: 'no_value' })
      else matches.caps.push(valueCapAt(draft, quota, { quota_id: quota.id, window_start: quota.window_start, key }))
    }
  }
  if (matches.grants.length > 1) matches.grants.sort(compareBurnOrder)
  if (matches.caps.length > 1) matches.caps.sort((one, other) => one.id - other.id)
  return matches
}

/** Why a quota that is not deleted does not count for this request; null if it does. */
function mismatchOf(quota: Allowance, command: DrawCommand, at: EpochMs): Explanation['verdict'] | null {
  // First, so that a quota is always explained as one that has ended, whichever scope it had.
  if (quota.expires_at !== null && quota.expires_at <= at) return 'expired'
  // A scoped quota matches only a request that names a listed value.
  if (quota.countries !== null && !coversDestination(quota, quota.countries, command)) return 'other_country'
  if (
    quota.message_types !== null &&
    (command.message_type === null || !quota.message_types.includes(command.message_type))
  )
    return 'other_message_type'
  const status = statusOf(quota, at)
  return status === 'suspended' || status === 'scheduled' ? status : null
}

/** Whether a quota counts what goes to the command's country; a cap, also what may go to one of its countries. */
function coversDestination({ kind }: Allowance, countries: readonly string[], command: DrawCommand): boolean {
  const { country, other_countries: others = [] } = command
  if (country !== null && countries.includes(country)) return true
  return kind === 'cap' && others.some(other => countries.includes(other))
}

/** Burn order: by priority, then the grant whose units expire soonest, then the lowest id. */
function compareBurnOrder(one: Allowance, other: Allowance): number {
  if (one.priority !== other.priority) return one.priority - other.priority
  const end = shownWindowEnd(one) ?? Number.POSITIVE_INFINITY
  const otherEnd = shownWindowEnd(other) ?? Number.POSITIVE_INFINITY
  return end === otherEnd ? one.id - other.id : end - otherEnd
}

/** The units that the matching quotas still let a request draw; Infinity where nothing limits them. */
export interface Capacity {
  /** What the grants can still pay, overage included. */
  grants: number
  /** The headroom of the tightest cap. */
  caps: number
}

export function capacityOf({ grants, caps, messages }: Matches): Capacity {
  return {
    grants: grants.reduce((sum, grant) => sum + Math.max(0, headroomOf(grant)), 0),
    caps: caps.reduce((least, cap) => Math.min(least, Math.max(0, roomUnder(cap, messages))), Number.POSITIVE_INFINITY),
  }
}

/** Units that a cap lets a request draw. One that counts messages has room for the request's, and so for any units, or has not. */
export function roomUnder(cap: Allowance, messages: number): number {
  const room = headroomOf(cap)
  if (cap.counts === 'units') return room
  return room >= messages ? Number.POSITIVE_INFINITY : 0
}

/** Units that the same request could still draw; null if nothing limits it. */
export function drawableOf(matches: Matches): number | null {
  const { grants, caps } = capacityOf(matches)
  const drawable = Math.min(grants, caps)
  return Number.isFinite(drawable) ? drawable : null
}

/** The units without which the request is denied: of a part of a priced message, those of one segment. */
export function neededBy({ allow_partial, units, price }: DrawCommand): number {
  if (!allow_partial) return units
  return price === undefined ? 1 : unitsOf(price, 1)
}
