/** What administrators set of the breaker. */
import { type Budgets, DEFAULT_BUDGETS } from './breaker.ts'

/** `observe`: what would be paused is an event and a row, and nothing is denied. */
export const BREAKER_MODES = ['off', 'observe', 'enforce'] as const
type BreakerMode = (typeof BREAKER_MODES)[number]

/** No budget is larger. */
export const MAX_BUDGET = 1_000_000

export interface BreakerSettings {
  readonly mode: BreakerMode
  /** The message types that are watched; null: those that the configuration names. */
  readonly message_types: readonly string[] | null
  readonly budgets: Budgets
  /** Countries and users that are never paused. */
  readonly pass_countries: readonly string[]
  readonly pass_users: readonly number[]
}

export const DEFAULT_BREAKER: BreakerSettings = {
  mode: 'observe',
  message_types: null,
  budgets: DEFAULT_BUDGETS,
  pass_countries: [],
  pass_users: [],
}

/** A requested change. What is left out stays. */
export type BreakerPatch = Partial<Omit<BreakerSettings, 'budgets'>> & { readonly budgets?: Partial<Budgets> }

/** The settings after a change. Lists are kept in one order, in which they are compared. */
export function changeBreaker(before: BreakerSettings, { budgets = {}, ...patch }: BreakerPatch): BreakerSettings {
  const after = { ...before, ...patch, budgets: { ...before.budgets, ...budgets } }
  return {
    ...after,
    message_types: after.message_types?.toSorted() ?? null,
    pass_countries: after.pass_countries.toSorted(),
    pass_users: after.pass_users.toSorted((one, other) => one - other),
  }
}
