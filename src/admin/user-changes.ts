import type { Quota } from '../domain/quota.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Decision, DecisionsOfUser } from './record-change.ts'
import { type ForbiddenByOthers, forbiddenByOthers } from './user-limits.ts'

/** The quotas of one user while the changes of a step are decided, one after the other. */
export class UserChanges {
  private readonly quotas: Map<number, Quota>
  private readonly decisions: Decision[] = []
  private readonly now: EpochMs

  /** @param stored what the changes depend on (`quotasOfUsers`) */
  constructor(stored: readonly Quota[], now: EpochMs) {
    this.quotas = new Map(stored.map(quota => [quota.id, quota]))
    this.now = now
  }

  byId(id: number): Quota | undefined {
    return this.quotas.get(id)
  }

  byReference(externalRef: string): Quota | undefined {
    return this.quotas.values().find(quota => quota.external_ref === externalRef)
  }

  /** Adds a decision, unless the user's other quotas forbid it. They never forbid a deletion. */
  add(decision: Decision): ForbiddenByOthers | undefined {
    const { action, after } = decision.change
    const others = [...this.quotas.values()].filter(({ id }) => id !== after.id)
    const forbidden = action === 'deleted' ? undefined : forbiddenByOthers(after, others, this.now)
    if (forbidden !== undefined) return forbidden
    this.quotas.set(after.id, after)
    this.decisions.push(decision)
    return undefined
  }

  /** What was decided; nothing if no quota changes. */
  get changes(): DecisionsOfUser[] {
    if (this.decisions.length === 0) return []
    const changed = new Set(this.decisions.map(({ change }) => change.after.id))
    return [{ decisions: this.decisions, others: [...this.quotas.values()].filter(({ id }) => !changed.has(id)) }]
  }
}
