import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Decision, DecisionsOfUser } from './record-change.ts'
import { type ForbiddenByOthers, forbiddenByOthers } from './user-limits.ts'

/** The quotas of one user while the changes of a step are decided, one after the other. */
export interface UserChanges {
  byId(id: number): Quota | undefined
  byReference(externalRef: string): Quota | undefined
  /** Adds a decision, unless the user's other quotas forbid it. They never forbid a deletion. */
  add(decision: Decision): ForbiddenByOthers | undefined
  /** What was decided; nothing if no quota changes. */
  readonly changes: DecisionsOfUser[]
}

/** @param stored what the changes depend on (`quotasOfUsers`) */
export function createUserChanges(stored: readonly Quota[], now: EpochMs): UserChanges {
  const quotas = new Map(stored.map(quota => [quota.id, quota]))
  const decisions: Decision[] = []

  return {
    byId: id => quotas.get(id),
    byReference: externalRef => quotas.values().find(quota => quota.external_ref === externalRef),
    add(decision) {
      const { action, after } = decision.change
      const others = [...quotas.values()].filter(({ id }) => id !== after.id)
      const forbidden = action === 'deleted' ? undefined : forbiddenByOthers(after, others, now)
      if (forbidden !== undefined) return forbidden
      quotas.set(after.id, after)
      decisions.push(decision)
      return undefined
    },
    get changes() {
      if (decisions.length === 0) return []
      const changed = new Set(decisions.map(({ change }) => change.after.id))
      return [{ decisions, others: [...quotas.values()].filter(({ id }) => !changed.has(id)) }]
    },
  }
}
