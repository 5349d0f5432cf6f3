/** The roll-out of a plan: who gets it, and the lines of its response. */
import type { PlanOutcome } from '../../admin/give-plan.ts'
import type { RollOutRecord, RollOutReq } from '../../contract/roll-out.ts'
import type { Database } from '../../db/connection/database.ts'
import { type PlanAccount, usersOfPlan, type VersionRange } from '../../db/plans/users.ts'
import { MAX_INTEGER, MAX_LISTED_FAILURES, MAX_SAMPLES } from '../../domain/bounds.ts'
import type { GivenSlot, Giving } from '../../domain/give-plan.ts'
import type { Plan } from '../../domain/plan.ts'
import { roll, statusOf } from '../../domain/quota.ts'
import type { EpochMs } from '../../domain/time.ts'
import { viewOf } from '../../domain/view.ts'
import { invalidRequest } from '../../errors.ts'
import { refusal } from '../changes/outcomes.ts'

/** Users that are read at a time. */
const PAGE = 500

/** The users that get a plan. */
export interface RollOutSelection {
  /** Left out: all who have a plan as `isMeant` says. */
  userIds?: readonly number[]
  /** Of the plan that the users have. */
  plan_id: number
  versions: VersionRange
  /** Whether a user is among them, by the plan that the user has when the accounts are locked. */
  isMeant: (user: PlanAccount) => boolean
}

const ALL: VersionRange = { from: 1, to: MAX_INTEGER }

/** All who have some versions of a plan. */
function having(planId: number, versions: VersionRange): RollOutSelection {
  const { from, to } = versions
  const isIn = (version: number | null) => version !== null && from <= version && version <= to
  return {
    plan_id: planId,
    versions,
    isMeant: ({ plan_id, plan_version }) => plan_id === planId && isIn(plan_version),
  }
}

/** @throws Problem `invalid_request` if the request selects in several ways */
export function selectionOf({ users, from_version, from_plan }: RollOutReq, plan: Plan): RollOutSelection {
  const given = Object.entries({ users, from_version, from_plan }).filter(([, value]) => value !== undefined)
  if (given.length > 1) {
    const [[first] = ['']] = given
    const others = given.slice(1).map(([name]) => name)
    throw invalidRequest([{ path: `/${first}`, message: `cannot be combined with ${others.join(', ')}` }])
  }
  if (users !== undefined) return { userIds: [...new Set(users)], ...having(plan.id, ALL), isMeant: () => true }
  if (from_plan !== undefined) return having(from_plan, ALL)
  if (from_version !== undefined) return having(plan.id, { from: from_version, to: from_version })
  return having(plan.id, { from: 1, to: plan.version - 1 })
}

/** The selected users, in parts, each a short read. */
export async function* selectedUsers(
  db: Database,
  { userIds, plan_id, versions }: RollOutSelection,
): AsyncGenerator<readonly number[], void> {
  if (userIds !== undefined) {
    yield userIds
    return
  }
  for (let after: PlanAccount | undefined; ; ) {
    const page: PlanAccount[] = await usersOfPlan(db, plan_id, versions, after, PAGE)
    yield page.map(({ user_id }) => user_id)
    if (page.length < PAGE) return
    after = page.at(-1)
  }
}

/** Counts what becomes of users and of their quotas, and answers the lines of some. */
interface RollOutReport {
  readonly counts: Omit<Extract<RollOutRecord, { record: 'end' }>, 'record'>
  linesOf(userId: number, outcome: PlanOutcome): Iterable<RollOutRecord>
}

export function createRollOutReport(isDryRun: boolean, now: () => EpochMs): RollOutReport {
  return new Report(isDryRun, now)
}

class Report implements RollOutReport {
  readonly counts = {
    users: { changed: 0, unchanged: 0, left_out: 0, failed: 0 },
    quotas: { made: 0, changed: 0, ended: 0, stay: 0, kept: 0 },
    carried: 0,
    again: 0,
    exhausted: 0,
  }
  private readonly isDryRun: boolean
  private readonly now: () => EpochMs
  private samples = 0

  constructor(isDryRun: boolean, now: () => EpochMs) {
    this.isDryRun = isDryRun
    this.now = now
  }

  *linesOf(user_id: number, outcome: PlanOutcome): Generator<RollOutRecord, void> {
    const { users } = this.counts
    switch (outcome.outcome) {
      case 'given':
        users[outcome.changes.length > 0 ? 'changed' : 'unchanged'] += 1
        yield* this.given(user_id, outcome)
        return
      case 'left_out':
        users.left_out += 1
        return
      default: {
        users.failed += 1
        const { code, message } = refusal(outcome)
        if (users.failed <= MAX_LISTED_FAILURES) yield { record: 'failed', user_id, code, detail: message }
      }
    }
  }

  private *given(user_id: number, giving: Giving): Generator<RollOutRecord, void> {
    const { quotas } = this.counts
    for (const { outcome, kept } of giving.slots) {
      if (outcome === 'made' || outcome === 'replaced') quotas.made += 1
      else quotas[outcome === 'changed' ? 'changed' : 'stay'] += 1
      if (kept.length > 0) quotas.kept += 1
    }
    quotas.ended += giving.ended.length
    const exhausted = this.exhaustedBy(giving)
    for (const record of ['carried', 'again'] as const) {
      const slots = giving.slots.flatMap(one => (one[record] > 0 ? [{ slot: one.slot, used: one[record] }] : []))
      if (slots.length > 0 && ++this.counts[record] <= MAX_LISTED_FAILURES && this.isDryRun)
        yield { record, user_id, slots }
    }
    if (exhausted.length > 0 && ++this.counts.exhausted <= MAX_LISTED_FAILURES)
      yield { record: 'exhausted', user_id, slots: exhausted }
    if (!this.isDryRun || giving.changes.length === 0 || this.samples >= MAX_SAMPLES) return
    this.samples += 1
    const slots = giving.slots.map(given => ({
      slot: given.slot,
      outcome: given.outcome,
      kept: this.keptOf(given),
      changes: this.changesOf(given),
    }))
    yield { record: 'sample', user_id, slots, ended: giving.ended.length }
  }

  /** The fields that change in place: before and after, as the API shows them. */
  private changesOf({ before, quota, changed }: GivenSlot): Record<string, unknown[]> {
    const shown = [before ?? quota, quota].map(one => viewOf(one, this.now()))
    return Object.fromEntries(changed.map(name => [name, shown.map(view => view[name])]))
  }

  /** The fields that stay as they were set by hand, with their values. */
  private keptOf({ quota, kept }: GivenSlot): Record<string, unknown> {
    const view = viewOf(quota, this.now())
    return Object.fromEntries(kept.map(name => [name, view[name]]))
  }

  /** The slots whose quotas have nothing left by this change, and had something. */
  private exhaustedBy({ slots }: Giving): string[] {
    const now = this.now()
    return slots.flatMap(({ slot, before, quota }) => {
      if (before === null || statusOf(roll(quota, now).quota, now) !== 'exhausted') return []
      return statusOf(roll(before, now).quota, now) === 'exhausted' ? [] : [slot]
    })
  }
}
