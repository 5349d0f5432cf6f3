/** What a user's quotas become when the user gets a plan, or loses it. */
import type { Change } from './outbox-event.ts'
import { type PlanSlot, type PlanVersion, plannedFieldsOf } from './plan.ts'
import {
  type ClosedWindow,
  changeQuota,
  createQuota,
  type Quota,
  type QuotaChange,
  type QuotaPatch,
  unknownIn,
} from './quota.ts'
import { changedNames, type KeptName, type QuotaPlan } from './quota-plan.ts'
import { asStored, immutableIssues } from './quota-rules.ts'
import { PLANNED_NAMES } from './quota-settings.ts'
import { DAY_MS, type EpochMs } from './time.ts'
import type { UnknownValue } from './unknown-value.ts'

export const SLOT_OUTCOMES = ['made', 'changed', 'replaced', 'stays'] as const
/**
 * `stays`: no field differs. The version of the plan moves nevertheless. `replaced`: a field that cannot change differs, so the quota before
 * has ended, and there is a new one.
 */
type SlotOutcome = (typeof SLOT_OUTCOMES)[number]

/** What becomes of a slot of the plan. */
export interface GivenSlot {
  slot: string
  outcome: SlotOutcome
  quota: Quota
  /** The fields that are changed in place. */
  changed: readonly KeptName[]
  /** The fields that stay as an administrator has set them. */
  kept: readonly KeptName[]
}

/** A change of a quota, and the windows that it closes. */
interface PlanChange {
  change: Change
  closed: readonly ClosedWindow[]
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
}

/**
 * Decides what a user's quotas become when the user gets a version of a plan. A quota belongs to a slot by its name, also to one of another
 * plan. The same plan again changes nothing.
 *
 * @param plan null: the plan is taken away
 * @param quotas the user's quotas that are of a plan and not deleted, expired ones too
 * @param reset whether what administrators have changed by hand is given up
 */
export function givePlan(
  quotas: readonly Quota[],
  plan: PlanVersion | null,
  reset: boolean,
  context: Context,
): Giving | { outcome: 'unknown_value'; cause: UnknownValue } {
  // Also of a quota that would end: to end it is to roll it.
  const unknown = quotas.map(unknownIn).find(cause => cause !== null)
  if (unknown !== undefined) return { outcome: 'unknown_value', cause: unknown }
  const bySlot = new Map(quotas.flatMap(quota => (quota.plan === null ? [] : [[quota.plan.slot, quota] as const])))
  const ending: PlanChange[] = []
  const others: PlanChange[] = []
  const slots: GivenSlot[] = []
  for (const slot of plan?.slots ?? []) {
    const before = bySlot.get(slot.slot)
    const of: QuotaPlan = { ...identityOf(plan), slot: slot.slot, kept: [] }
    bySlot.delete(slot.slot)
    if (before === undefined || isOther(before, slot, context.now)) {
      const made = make(slot, of, context)
      others.push(made)
      const outcome = before === undefined ? 'made' : 'replaced'
      slots.push({ slot: slot.slot, outcome, quota: made.change.after, changed: [], kept: [] })
      if (before !== undefined) ending.push(end(before, context))
      continue
    }
    const changed = changeInPlace(before, slot, of, reset, context)
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
  return { slot, outcome, quota, changed, kept: quota.plan?.kept ?? [] }
}

function identityOf(plan: PlanVersion | null): Pick<QuotaPlan, 'id' | 'name' | 'version'> {
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

function make(slot: PlanSlot, plan: QuotaPlan, { now, actor, userId, nextId }: Context): PlanChange {
  const draft = { ...plannedFieldsOf(slot), user_id: userId, expires_at: endOf(slot, now) }
  const made = createQuota(draft, { id: nextId(), now, actor })
  if ('issues' in made) throw new Error(`slot ${slot.slot} makes no quota: ${JSON.stringify(made.issues)}`)
  return { change: { action: 'created', before: null, after: { ...made.quota, plan } }, closed: [] }
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
    : {
        expires_at: Math.max(context.now, before.starts_at + 1),
        // It began by a clock that was ahead, and ends after its start: senders, who may draw on it already, must not do so until then.
        ...(before.starts_at > context.now ? { enabled: false } : {}),
      }
  const ended = asPossible(changeQuota(before, patch, context, null))
  if (ended.outcome !== 'changed') throw new Error(`quota ${before.id} cannot end`)
  return { change: { action: 'updated', before, after: ended.quota }, closed: ended.closed }
}

/** A plan was checked when it was written, so that nothing else can come of it. */
function asPossible(change: QuotaChange): Extract<QuotaChange, { outcome: 'changed' | 'unchanged' }> {
  if (change.outcome === 'changed' || change.outcome === 'unchanged') return change
  throw new Error(`a slot cannot be given: ${JSON.stringify(change)}`)
}
