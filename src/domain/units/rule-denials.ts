import { type PausesByCountry, pausedBy } from '../pauses/pause.ts'
import type { Quota } from '../quotas/quota.ts'
import type { Denial, DenialKey } from './denial.ts'
import type { DenialReason } from './reservation.ts'

/** What rules denied: pauses, and caps that plans give to many users. */

/** Denials for which a rule is the reason. */
export const RULE_REASONS = ['cap_reached', 'destination_paused'] as const satisfies readonly DenialReason[]

/** A rule, and what it denied. */
export interface RuleDenials {
  reason: (typeof RULE_REASONS)[number]
  /** The pause that now holds for the messages; null: it was lifted. */
  pause_id: number | null
  /** The plan and the slot of the cap; null: it is of no plan. */
  plan_id: number | null
  slot: string | null
  /** With those that the log left out. */
  denials: number
  users: number
}

/**
 * Denials by the rule that denied them, most first.
 *
 * @param caps those that denied, with their plans
 */
export function denialsByRule(
  denials: readonly (Denial & DenialKey)[],
  caps: readonly Pick<Quota, 'id' | 'plan'>[],
  pauses: PausesByCountry,
): RuleDenials[] {
  const plans = new Map(caps.map(({ id, plan }) => [id, plan]))
  const ruleOf = (denial: Denial & DenialKey): Omit<RuleDenials, 'denials' | 'users'>[] => {
    const { reason, limiting_quota_id } = denial
    if (reason === 'destination_paused')
      return [{ reason, pause_id: pausedBy(pauses, denial, denial.at)?.id ?? null, plan_id: null, slot: null }]
    if (reason !== 'cap_reached') return []
    const plan = plans.get(limiting_quota_id ?? 0)
    return [{ reason, pause_id: null, plan_id: plan?.id ?? null, slot: plan?.slot ?? null }]
  }
  const counted = denials.flatMap(denial => ruleOf(denial).map(rule => ({ rule, denial })))
  return [...Map.groupBy(counted, ({ rule }) => JSON.stringify(rule)).values()]
    .flatMap(some =>
      some.slice(0, 1).map(({ rule }) => ({
        ...rule,
        denials: some.reduce((sum, { denial }) => sum + 1 + (denial.skipped ?? 0), 0),
        users: new Set(some.map(({ denial }) => denial.user_id)).size,
      })),
    )
    .toSorted((one, other) => other.denials - one.denials)
}
