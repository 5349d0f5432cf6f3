import type { ValidationIssue } from '../../errors.ts'
import { namedValues } from '../basics/named-values.ts'
import { createQuota } from '../quotas/quota.ts'
import {
  defaultsFor,
  isDeepEqual,
  PLANNED_NAMES,
  type PlannedName,
  type QuotaIdentity,
  type QuotaSettings,
} from '../quotas/quota-settings.ts'
import { JOINED } from '../time/anchor.ts'
import { type EpochMs, formatTimestamp } from '../time/time.ts'
import { anchorAt } from '../time/window.ts'
import { PLAN_FIELD_NAMES, PLAN_FIELDS, type PlanFields, planFieldsOf } from './plan-fields.ts'

/** The fields of a quota that a plan says: those that are fixed at its creation, but for the user, and settings. */
export type PlannedFields = Omit<QuotaIdentity, 'user_id'> & Pick<QuotaSettings, PlannedName>

/** A quota of a plan. */
export interface PlanSlot extends PlannedFields {
  /** Names the quota within the plan, also in later versions. */
  slot: string
  /** For how many days of 24 hours a user has the quota; null: until it is ended. */
  lasts_days: number | null
}

/** A version of a plan, which a user gets. */
export interface PlanVersion {
  id: number
  version: number
  name: string
  slots: readonly PlanSlot[]
}

/** A list of quotas that users get as a whole. `version` grows with each change of name or slots. */
export interface Plan extends PlanVersion, PlanFields {
  /** From then on no further user gets it. Those who have it keep it. */
  archived_at: EpochMs | null
  created_at: EpochMs
  created_by: string
  updated_at: EpochMs
  updated_by: string
}

/** A slot as it is asked for. Omitted fields take the defaults of quotas. */
export type SlotDraft = Pick<PlanSlot, 'slot' | 'limit'> & Partial<Omit<PlanSlot, 'slot' | 'limit'>>
export type PlanDraft = Pick<PlanFields, 'name'> & Partial<PlanFields> & { slots: readonly SlotDraft[] }
/** A requested change. Omitted fields stay; `slots` replaces all of them. */
export type PlanPatch = Partial<PlanDraft>

const IDENTITY_NAMES = [
  'kind',
  'period',
  'anchor',
  'time_zone',
  'per',
  'counts',
] as const satisfies readonly (keyof QuotaIdentity)[]
/** The fields of a quota that a plan says, in the order in which the API shows them. */
const PLANNED_FIELDS: readonly (keyof PlannedFields)[] = [...IDENTITY_NAMES, ...PLANNED_NAMES]

/** A slot with all its fields. One that was stored before a field existed takes the default. */
export function slotOf(draft: SlotDraft): PlanSlot {
  const fields: SlotDraft & Partial<PlannedFields> = { ...defaultsFor(draft), ...draft }
  const { slot, lasts_days = null } = draft
  return { slot, lasts_days, ...namedValues<PlannedFields>(PLANNED_FIELDS, name => fields[name]) }
}

/** The fields of a slot's quota. */
export function plannedFieldsOf(slot: PlanSlot): PlannedFields {
  return namedValues<PlannedFields>(PLANNED_FIELDS, name => slot[name])
}

/** A slot whose windows begin where those of a user do who joined at a time. */
export function anchored<Slot extends PlanSlot>(slot: Slot, joinedAt: EpochMs): Slot {
  if (slot.anchor !== JOINED) return slot
  return { ...slot, anchor: anchorAt(slot.period, slot.time_zone, joinedAt) ?? JOINED }
}

/** Every rule that the slots break. Each must make a quota. */
export function slotIssues(slots: readonly PlanSlot[]): ValidationIssue[] {
  return slots.flatMap((slot, index) => {
    const made = createQuota({ user_id: 0, ...plannedFieldsOf(anchored(slot, 0)) }, { id: 0, now: 0, actor: '' })
    const issues = 'issues' in made ? [...made.issues] : []
    const first = slots.findIndex(other => other.slot === slot.slot)
    if (first < index)
      issues.push({ path: '/slot', message: `is that of /slots/${first}; each slot has a name of its own` })
    return issues.map(({ path, message }) => ({ path: `/slots/${index}${path}`, message }))
  })
}

type Changed = { outcome: 'changed'; plan: Plan } | { outcome: 'unchanged' }
type PlanContext = { now: EpochMs; actor: string }

/** Changes a plan that is not archived. What users have stays as it is. */
export function changePlan(current: Plan, patch: PlanPatch, { now, actor }: PlanContext): Changed {
  const fields = planFieldsOf(current, patch)
  const slots = patch.slots?.map(slotOf) ?? current.slots
  const changed = PLAN_FIELD_NAMES.filter(name => !isDeepEqual(fields[name], current[name]))
  const hasSameSlots = isDeepEqual(slots, current.slots)
  if (hasSameSlots && changed.length === 0) return { outcome: 'unchanged' }
  const isNewVersion = !hasSameSlots || changed.some(name => PLAN_FIELDS[name].isOfVersion)
  const version = current.version + (isNewVersion ? 1 : 0)
  return { outcome: 'changed', plan: { ...current, ...fields, version, slots, updated_at: now, updated_by: actor } }
}

/** Archives a plan, which is no default any more. */
export function archivePlan(current: Plan, { now, actor }: PlanContext): Changed {
  if (current.archived_at !== null) return { outcome: 'unchanged' }
  const marks = { archived_at: now, is_default: false, updated_at: now, updated_by: actor }
  return { outcome: 'changed', plan: { ...current, ...marks } }
}

/** A plan as the API shows it. */
export function planViewOf({ archived_at, created_at, updated_at, ...plan }: Plan) {
  return {
    ...plan,
    archived: archived_at !== null,
    created_at: formatTimestamp(created_at),
    updated_at: formatTimestamp(updated_at),
  }
}
