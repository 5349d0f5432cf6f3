import { MAX_BUDGET } from '../../../src/domain/pauses/breaker-settings.ts'
import type { Api } from '../api/types.ts'
import { isMessageType } from './pauses.ts'
import { percentOf, shareOf, wholeNumber } from './typed.ts'

/** The settings of the breaker, as people change them. */

export type Breaker = Api['Breaker']

export const BUDGETS = ['day', 'hour', 'flight', 'share'] as const
export type Budget = (typeof BUDGETS)[number]

/** The fields, in the order of the form. */
const BREAKER_FIELDS = ['mode', 'message_types', ...BUDGETS, 'pass_countries', 'pass_users'] as const
export type BreakerField = (typeof BREAKER_FIELDS)[number]

/** What the form shows. Budgets are as they are typed, the share in percent. */
export interface BreakerValues extends Record<Budget, string> {
  mode: Breaker['mode']
  /** Empty: those of the configuration. */
  message_types: readonly string[]
  pass_countries: readonly string[]
  pass_users: readonly number[]
}

/** What was typed; a field that is left out is as it is saved. */
export type BreakerInput = Partial<BreakerValues>

export function breakerValuesOf({ mode, message_types, budgets, pass_countries, pass_users }: Breaker): BreakerValues {
  const { day, hour, flight, share } = budgets
  return {
    ...{ mode, message_types, pass_countries, pass_users },
    ...{ day: String(day), hour: String(hour), flight: String(flight), share: percentOf(share) },
  }
}

/** The budgets as the service takes them; a text that is no number stays one. */
export function budgetsOf({ day, hour, flight, share }: Pick<BreakerValues, Budget>): Record<Budget, number | string> {
  return { day: wholeNumber(day), hour: wholeNumber(hour), flight: wholeNumber(flight), share: shareOf(share) }
}

/** The fields that the service would refuse. */
export function wrongBreakerFields(values: BreakerValues): BreakerField[] {
  const { day, hour, flight, share } = budgetsOf(values)
  const isWithin = (value: number | string, min: number, max: number) =>
    typeof value === 'number' && value >= min && value <= max
  const accepted: Partial<Record<BreakerField, boolean>> = {
    day: isWithin(day, 1, MAX_BUDGET),
    hour: isWithin(hour, 1, MAX_BUDGET),
    flight: isWithin(flight, 1, MAX_BUDGET),
    share: isWithin(share, 0, 1),
    message_types: values.message_types.every(isMessageType),
  }
  return BREAKER_FIELDS.filter(field => accepted[field] === false)
}

/** What each field is for the service. */
function settingsOf(values: BreakerValues): Record<BreakerField, unknown> {
  const { mode, message_types, pass_countries, pass_users } = values
  return {
    ...budgetsOf(values),
    mode,
    message_types: message_types.length === 0 ? null : message_types.toSorted(),
    pass_countries: pass_countries.toSorted(),
    pass_users: pass_users.toSorted((one, other) => one - other),
  }
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

function changedFields(values: BreakerValues, saved: Breaker): BreakerField[] {
  const [mine, theirs] = [settingsOf(values), settingsOf(breakerValuesOf(saved))]
  return BREAKER_FIELDS.filter(field => !isSame(mine[field], theirs[field]))
}

/** What a save changes. */
export function changedBreaker(input: BreakerInput, saved: Breaker): Record<string, unknown> {
  const values = { ...breakerValuesOf(saved), ...input }
  const settings = settingsOf(values)
  const isBudget = (field: BreakerField) => BUDGETS.some(budget => budget === field)
  const changed = changedFields(values, saved)
  const partOf = (fields: BreakerField[]) => Object.fromEntries(fields.map(field => [field, settings[field]]))
  const budgets = changed.filter(isBudget)
  return {
    ...partOf(changed.filter(field => !isBudget(field))),
    ...(budgets.length === 0 ? {} : { budgets: partOf(budgets) }),
  }
}

/** The fields with input that another save has changed since the form was opened. */
export function breakerChangedMeanwhile(input: BreakerInput, opened: Breaker, saved: Breaker): BreakerField[] {
  const theirs = changedFields(breakerValuesOf(saved), opened)
  return changedFields({ ...breakerValuesOf(saved), ...input }, saved).filter(field => theirs.includes(field))
}

/** What a save would do with messages; null if it changes nothing about that. */
export function effectOf(before: Breaker['mode'], after: Breaker['mode']): 'begins' | 'ends' | null {
  if ((before === 'enforce') === (after === 'enforce')) return null
  return after === 'enforce' ? 'begins' : 'ends'
}
