import { othersThan } from '../../../src/domain/messages/country.ts'
import {
  PLAN_DEFAULTS,
  PLAN_FIELD_NAMES,
  type PlanFields,
  planFieldsOf,
} from '../../../src/domain/plans/plan-fields.ts'
import type { Api } from '../api/types.ts'
import { createBodyOf, emptyFormValues, type FormValues, formValuesOf, isSame, type Terms } from './quota-form.ts'
import { wholeNumber } from './typed.ts'

type Plan = Api['Plan']
export type PlanSlot = Api['PlanSlot']

/** A quota of a plan, as typed. */
export interface SlotValues {
  /** The React key of the slot. */
  key: number
  slot: string
  lasts_days: string
  /** The fields of a new quota. Those of a single one stay empty: user, times, reference and opening use. */
  quota: FormValues
}

/** Values of the form of a plan. */
export interface PlanValues extends PlanFields {
  slots: readonly SlotValues[]
}

/** A quota that a plan often has; the sample plan begins with some. */
export type SlotPreset = 'monthly' | 'daily' | 'abroad' | 'welcome' | 'other'

/** What presets depend on: where the console runs, and the words of its language. */
export interface Surroundings {
  time_zone: string
  /** The country that messages abroad do not go to. */
  countries: readonly string[]
  names: Readonly<Record<SlotPreset, string>>
}

/** How many days a welcome lasts. */
const WELCOME_DAYS = '30'

const PRESETS: Record<SlotPreset, (where: Surroundings) => Partial<FormValues>> = {
  monthly: ({ time_zone }) => ({ kind: 'grant', limit: '100', period: 'month', time_zone }),
  daily: ({ time_zone }) => ({ kind: 'cap', limit: '50', period: 'day', time_zone }),
  abroad: ({ time_zone, countries }) => ({
    kind: 'cap',
    limit: '10',
    period: 'day',
    time_zone,
    countries: [...othersThan(countries)],
  }),
  welcome: () => ({ kind: 'grant', limit: '100' }),
  other: ({ time_zone }) => ({ time_zone }),
}

/** The presets in the order of their buttons. */
export const SLOT_PRESETS: readonly SlotPreset[] = ['monthly', 'daily', 'abroad', 'welcome', 'other']

/** The quotas of the sample plan. */
const SAMPLE: readonly SlotPreset[] = ['monthly', 'daily', 'abroad']

export function emptyPlan(where: Surroundings): PlanValues {
  return withSlot({ ...PLAN_DEFAULTS, slots: [] }, 'other', where)
}

/** A package with a daily cap, and a lower one for messages abroad. */
export function samplePlan(name: string, where: Surroundings): PlanValues {
  const none: PlanValues = { ...PLAN_DEFAULTS, name, slots: [] }
  return SAMPLE.reduce((plan, preset) => withSlot(plan, preset, where), none)
}

/** The plan with one more quota, whose name none of the others has. It takes the place of the empty one that a new plan begins with. */
export function withSlot(plan: PlanValues, preset: SlotPreset, where: Surroundings): PlanValues {
  const isUntouched = preset !== 'other' && isSame(plan.slots, emptyPlan(where).slots)
  const slots = isUntouched ? [] : plan.slots
  const name = preset === 'other' ? '' : where.names[preset]
  const added: SlotValues = {
    key: 1 + Math.max(0, ...slots.map(({ key }) => key)),
    slot: freeName(
      preset === 'other' ? 'quota' : preset,
      slots.map(({ slot }) => slot),
    ),
    lasts_days: preset === 'welcome' ? WELCOME_DAYS : '',
    quota: { ...emptyFormValues(null), name, ...PRESETS[preset](where) },
  }
  return { ...plan, slots: [...slots, added] }
}

function freeName(name: string, taken: readonly string[]): string {
  for (let index = 1; ; index += 1) {
    const candidate = index === 1 ? name : `${name}-${index}`
    if (!taken.includes(candidate)) return candidate
  }
}

/** Values of the form of an existing plan. */
export function planValuesOf(plan: Pick<Plan, keyof PlanValues>): PlanValues {
  return { ...planFieldsOf(plan), slots: plan.slots.map(slotValuesOf) }
}

function slotValuesOf({ slot, lasts_days, ...planned }: PlanSlot, index: number): SlotValues {
  const ofOne = { user_id: 0, starts_at: null, expires_at: null, external_ref: null }
  return {
    key: index + 1,
    slot,
    lasts_days: lasts_days === null ? '' : String(lasts_days),
    quota: { ...formValuesOf({ ...planned, ...ofOne }), user_id: '' },
  }
}

/** The request body that creates the plan. */
export function planBodyOf(values: PlanValues) {
  return { ...planFieldsOf(values), slots: values.slots.map(slotBodyOf) }
}

function slotBodyOf({ slot, lasts_days, quota }: SlotValues) {
  const days = wholeNumber(lasts_days)
  return { slot, ...(days === '' ? {} : { lasts_days: days }), ...createBodyOf(quota, '') }
}

/** What the form changes of the plan that it is based on: all slots, if one of them differs. */
export function changedPlan(values: PlanValues, original: Plan): Partial<ReturnType<typeof planBodyOf>> {
  const [now, before] = [planBodyOf(values), planBodyOf(planValuesOf(original))]
  const areSame =
    now.slots.length === before.slots.length && now.slots.every((slot, at) => isSame(slot, before.slots[at]))
  return {
    ...Object.fromEntries(changedFields(now, before).map(name => [name, now[name]])),
    ...(areSame ? {} : { slots: now.slots }),
  }
}

function changedFields(now: PlanFields, before: PlanFields): (keyof PlanFields)[] {
  return PLAN_FIELD_NAMES.filter(name => !isSame(now[name], before[name]))
}

/** What a user gets by a slot, as far as a single quota has it. */
export function termsOfSlot(slot: PlanSlot): Terms {
  return { ...slot, starts_at: null, expires_at: null }
}

/** A slot that two versions of a plan do not have alike; null where it is missing. */
export interface SlotDifference {
  slot: string
  before: PlanSlot | null
  after: PlanSlot | null
}

/** What differs between the slots of two versions, in the order of the later one. */
export function slotDifferences(before: readonly PlanSlot[], after: readonly PlanSlot[]): SlotDifference[] {
  const old = new Map(before.map(slot => [slot.slot, slot]))
  const kept = new Set(after.map(({ slot }) => slot))
  return [
    ...after.map(slot => ({ slot: slot.slot, before: old.get(slot.slot) ?? null, after: slot })),
    ...before.filter(({ slot }) => !kept.has(slot)).map(slot => ({ slot: slot.slot, before: slot, after: null })),
  ].filter(({ before: one, after: other }) => !isSame(one, other))
}

/** A form that goes on from a plan that others have saved meanwhile. */
interface Rebased {
  values: PlanValues
  /** What both have changed, of which the form has its own: names of slots, and of fields of the plan. */
  changedByBoth: string[]
}

/** The changes of the form on top of theirs: of what only they have changed, slot by slot, the form takes over theirs. */
export function rebasedPlan(values: PlanValues, original: Plan, theirs: Plan): Rebased {
  const [before, other] = [planValuesOf(original), planValuesOf(theirs)]
  const mine = changedFields(values, before)
  const [ours, olds, others] = [bySlot(values), bySlot(before), bySlot(other)]
  const isSameIn = (one: SlotMap, two: SlotMap, slot: string) => isSame(bodyIn(one, slot), bodyIn(two, slot))
  const names = [...new Set([...others.keys(), ...ours.keys()])]
  const chosen = names.map(slot => (isSameIn(ours, olds, slot) ? others : ours).get(slot))
  const slots = chosen.filter(slot => slot !== undefined).map((slot, index) => ({ ...slot, key: index + 1 }))
  const changedByBoth = names.filter(
    slot => !isSameIn(ours, olds, slot) && !isSameIn(others, olds, slot) && !isSameIn(ours, others, slot),
  )
  const fieldsOfBoth = mine.filter(name => !isSame(other[name], before[name]) && !isSame(other[name], values[name]))
  const ownFields = Object.fromEntries(mine.map(name => [name, values[name]]))
  return {
    values: { ...planFieldsOf(other, ownFields), slots },
    changedByBoth: [...fieldsOfBoth, ...changedByBoth],
  }
}

type SlotMap = ReadonlyMap<string, SlotValues>

function bySlot({ slots }: PlanValues): SlotMap {
  return new Map(slots.map(slot => [slot.slot, slot]))
}

function bodyIn(slots: SlotMap, name: string): object | null {
  const slot = slots.get(name)
  return slot === undefined ? null : slotBodyOf(slot)
}
