/** What a user's quotas become when the user gets a plan, or loses it. */

import type { UnknownValue } from '../basics/unknown-value.ts'
import type { Change } from '../events/outbox-event.ts'
import {
  type ClosedWindow,
  changeQuota,
  createQuota,
  type Quota,
  type QuotaChange,
  type QuotaPatch,
  roll,
  unknownIn,
} from '../quotas/quota.ts'
import { changedNames, type KeptName, type QuotaPlan } from '../quotas/quota-plan.ts'
import { asStored, immutableIssues } from '../quotas/quota-rules.ts'
import { PLANNED_NAMES } from '../quotas/quota-settings.ts'
import { JOINED } from '../time/anchor.ts'
import { DAY_MS, type EpochMs } from '../time/time.ts'
import { openingOf, type Reservation } from '../units/reservation.ts'
import { anchored, type PlanSlot, type PlanVersion, plannedFieldsOf } from './plan.ts'
import { formerOf, type SentSince, sum, usedBefore } from './used-before.ts'

export const SLOT_OUTCOMES = ['made', 'changed', 'replaced', 'stays'] as const
/**
 * `stays`: no field differs. The version of the plan moves nevertheless. `replaced`: a field that cannot change differs, so the quota before
 * has ended, and there is a new one.
 */
type SlotOutcome = (typeof SLOT_OUTCOMES)[number]

/** The result for a slot of the plan. */
interface GivenSlot {
  slot: string
  outcome: SlotOutcome
  /** The quota that the user had for it; null: none. */
  before: Quota | null
  quota: Quota
  /** What earlier quotas of the slot have used, which counts in the first window of one that is made. */
  carried: number
  /** The same if it does not count, because the quota begins anew: the user gets it again. */
  again: number
  /** The fields that are changed in place. */
  changed: readonly KeptName[]
  /** The fields that stay as an administrator has set them. */
  kept: readonly KeptName[]
}

/** A change of a quota, and the windows that it closes. */
interface PlanChange {
  change: Change
  closed: readonly ClosedWindow[]
  /** What a quota that is made begins with. */
  booking?: Reservation | null
}

export interface Giving {
  outcome: 'given'
  /** Those that end come first, so that they make room for others. */
  changes: readonly PlanChange[]
  slots: readonly GivenSlot[]
  /** The quotas that end, those that are replaced among them. */
  ended: readonly Quota[]
}

interface Context {
  now: EpochMs
  actor: string
  userId: number
  /** An id for a quota to be made. */
  nextId: () => number
  /** The user's earlier quotas of slots (`formerOf`), in the order in which they were made. */
  earlier: readonly Quota[]
  sentSince: SentSince
}

/** The options with which a plan is given. */
export interface Manner {
  /** Whether what administrators have changed by hand is given up. */
  reset?: boolean
  /** Whether quotas that are made begin anew, although earlier ones of the slot have used units in an open window. */
  fresh?: boolean
}

/**
 * Decides what a user's quotas become when the user gets a version of a plan. A quota belongs to a slot by its name, also to one of another
 * plan. The same plan again changes nothing.
 *
 * @param plan null: the plan is taken away
 * @param quotas the user's quotas that are of a plan and not deleted, expired ones too
 */
export function givePlan(
  quotas: readonly Quota[],
  plan: PlanVersion | null,
  { reset = false, fresh = false }: Manner,
  context: Context,
): Giving | { outcome: 'unknown_value'; cause: UnknownValue } {
  // Also of a quota that would end: to end it is to roll it.
  const unknown = quotas.map(unknownIn).find(cause => cause !== null)
  if (unknown !== undefined) return { outcome: 'unknown_value', cause: unknown }
  const bySlot = new Map(quotas.flatMap(quota => (quota.plan === null ? [] : [[quota.plan.slot, quota] as const])))
  const ending: PlanChange[] = []
  const others: PlanChange[] = []
  const slots: GivenSlot[] = []
  const since = gotPlanAt(quotas, plan, context.now)
  for (const planned of plan?.slots ?? []) {
    const before = bySlot.get(planned.slot)
    const slot = withAnchor(planned, before, since)
    bySlot.delete(slot.slot)
    if (before === undefined || isOther(before, slot, context.now)) {
      const made = make(slot, { ...identityOf(plan), since }, { before, fresh }, context)
      others.push(made.change)
      slots.push(made.given)
      if (before !== undefined) ending.push(end(before, context))
      continue
    }
    const changed = changeInPlace(before, slot, inPlaceOf(before, identityOf(plan), context.now), reset, context)
    if (changed.outcome === 'changed') {
      others.push({ change: { action: 'updated', before, after: changed.quota }, closed: changed.closed })
    }
    slots.push(inPlace(slot, before, changed.outcome === 'changed' ? changed.quota : before))
  }
  for (const quota of bySlot.values()) ending.push(end(quota, context))
  return {
    outcome: 'given',
    changes: [...ending, ...others],
    slots,
    ended: ending.map(({ change }) => change.after),
  }
}

function inPlace({ slot }: PlanSlot, before: Quota, quota: Quota): GivenSlot {
  const changed = changedNames(before, quota)
  const outcome = changed.length === 0 ? 'stays' : 'changed'
  return { slot, outcome, before, quota, changed, kept: quota.plan?.kept ?? [], carried: 0, again: 0 }
}

/** When the user got the plan, in any version; now, if not before. */
function gotPlanAt(quotas: readonly Quota[], given: PlanVersion | null, now: EpochMs): EpochMs {
  const times = quotas.flatMap(({ plan, starts_at }) => (plan?.id === given?.id ? [plan?.since ?? starts_at] : []))
  return Math.min(now, ...times)
}

/** The slot with the day on which the user joined. One that the user's quota has stays. */
function withAnchor(slot: PlanSlot, before: Quota | undefined, since: EpochMs): PlanSlot {
  const isKept = slot.anchor === JOINED && before?.anchor != null && before.period === slot.period
  return isKept ? { ...slot, anchor: before.anchor } : anchored(slot, since)
}

type Identity = Pick<QuotaPlan, 'id' | 'name' | 'version'>

/** Of which plan a quota is that stays. */
function inPlaceOf({ plan, starts_at }: Quota, identity: Identity, now: EpochMs): QuotaPlan {
  const { slot = '', id, since, ...marks } = plan ?? {}
  const gotAt = id === identity.id ? since : now === starts_at ? undefined : now
  return { ...marks, ...identity, slot, kept: [], ...(gotAt === undefined ? {} : { since: gotAt }) }
}

function identityOf(plan: PlanVersion | null): Identity {
  if (plan === null) throw new Error('a slot belongs to a plan')
  const { id, name, version } = plan
  return { id, name, version }
}

/** Whether a field differs that cannot change. */
function isOther(quota: Quota, { kind, period, anchor, time_zone, per, counts }: PlanSlot, now: EpochMs): boolean {
  return immutableIssues(quota, asStored({ kind, period, anchor, time_zone, per, counts }, quota), now).length > 0
}

/** How long a quota lasts that starts at a time. */
const endOf = ({ lasts_days }: PlanSlot, start: EpochMs) => (lasts_days === null ? null : start + lasts_days * DAY_MS)

interface Making {
  /** The quota that it replaces. */
  before: Quota | undefined
  fresh: boolean
}

/** Makes the quota of a slot, which begins with what earlier ones have used in a window that is open. */
function make(
  planned: PlanSlot,
  { since, ...identity }: Identity & { since: EpochMs },
  { before, fresh }: Making,
  { now, actor, userId, nextId, earlier, sentSince }: Context,
): { change: PlanChange; given: GivenSlot } {
  const { slot } = planned
  const fields = plannedFieldsOf(planned)
  const ofSlot = earlier.filter(quota => formerOf(quota)?.slot === slot)
  const replaced = before === undefined ? [] : [roll(before, now).quota]
  const parts = usedBefore(fields, [...ofSlot, ...replaced], now, sentSince)
  const used = sum(parts.map(({ units }) => units))
  const carried = fresh ? 0 : used
  const draft = { ...fields, user_id: userId, expires_at: endOf(planned, now), opening_used: carried }
  const made = createQuota(draft, { id: nextId(), now, actor })
  if ('issues' in made) throw new Error(`slot ${slot} makes no quota: ${JSON.stringify(made.issues)}`)
  const marks = {
    ...(since < now ? { since } : {}),
    ...(carried > 0 ? { carried, carried_from: parts } : {}),
    ...(carried < used ? { fresh: true as const } : {}),
  }
  const quota: Quota = { ...made.quota, plan: { ...identity, slot, kept: [], ...marks } }
  const outcome = before === undefined ? 'made' : 'replaced'
  return {
    change: { change: { action: 'created', before: null, after: quota }, closed: [], booking: openingOf(quota) },
    given: { slot, outcome, before: before ?? null, quota, changed: [], kept: [], carried, again: used - carried },
  }
}

/** Sets what the slot says, but for what was changed by hand. Where the two contradict each other, the slot holds. */
function changeInPlace(before: Quota, slot: PlanSlot, of: QuotaPlan, reset: boolean, context: Context) {
  const kept = reset ? [] : (before.plan?.kept ?? [])
  const changed = set(before, slot, { ...of, kept }, context)
  return asPossible(changed.outcome === 'invalid' && kept.length > 0 ? set(before, slot, of, context) : changed)
}

function set(before: Quota, slot: PlanSlot, plan: QuotaPlan, context: Context): QuotaChange {
  // What cannot change is the same, as `isOther` has found.
  const planned = PLANNED_NAMES.map(name => [name, slot[name]] as const)
  const fields = [...planned, ['expires_at', endOf(slot, before.starts_at)] as const]
  const kept: readonly string[] = plan.kept
  const patch: QuotaPatch = Object.fromEntries(fields.filter(([name]) => !kept.includes(name)))
  return changeQuota(before, { ...patch, allow_below_usage: true }, context, plan)
}

/** Ends a quota now, which is one of the user's past from then on. One that has expired keeps its end. */
function end(before: Quota, context: Context): PlanChange {
  const isOver = before.expires_at !== null && before.expires_at <= context.now
  const patch: QuotaPatch = isOver
    ? {}
    : // Senders must not draw on it any more: by a clock that lags while the user has another quota for the slot, nor until its end if that
      // is after its start by a clock that was ahead.
      { expires_at: Math.max(context.now, before.starts_at + 1), enabled: false }
  const ended = asPossible(changeQuota(before, patch, context, null))
  if (ended.outcome !== 'changed') throw new Error(`quota ${before.id} cannot end`)
  const after = { ...ended.quota, former: formerOf(roll(before, context.now).quota) }
  return { change: { action: 'updated', before, after }, closed: ended.closed }
}

/** A plan was checked when it was written, so that nothing else can come of it. */
function asPossible(change: QuotaChange): Extract<QuotaChange, { outcome: 'changed' | 'unchanged' }> {
  if (change.outcome === 'changed' || change.outcome === 'unchanged') return change
  throw new Error(`a slot cannot be given: ${JSON.stringify(change)}`)
}
