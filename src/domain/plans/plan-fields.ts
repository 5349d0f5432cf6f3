import { namedValues } from '../basics/named-values.ts'

/** The fields that administrators set for a plan as a whole, beside its slots. */
export interface PlanFields {
  name: string
  /** Whether users who never had a quota get it with their first reservation. One plan at most is the default. */
  is_default: boolean
  /** The rate card of its users, as far as they have none of their own; null: the default one. */
  rate_card_id: number | null
}

/**
 * The table of these fields. `default`: the value in a new plan, or in its empty form. `isOfVersion`: whether a change makes a new version, which
 * users get only when it is given to them.
 */
export const PLAN_FIELDS: {
  readonly [Name in keyof PlanFields]: { readonly default: PlanFields[Name]; readonly isOfVersion: boolean }
} = {
  name: { default: '', isOfVersion: true },
  is_default: { default: false, isOfVersion: false },
  rate_card_id: { default: null, isOfVersion: false },
}

const isField = (name: string): name is keyof PlanFields => Object.hasOwn(PLAN_FIELDS, name)
export const PLAN_FIELD_NAMES = Object.keys(PLAN_FIELDS).filter(isField)

export const PLAN_DEFAULTS = namedValues<PlanFields>(PLAN_FIELD_NAMES, name => PLAN_FIELDS[name].default)

/** The fields of a plan, with those of a change in place of its own. */
export function planFieldsOf(plan: PlanFields, changes: Partial<PlanFields> = {}): PlanFields {
  return namedValues<PlanFields>(PLAN_FIELD_NAMES, name => (changes[name] === undefined ? plan[name] : changes[name]))
}
