/** The roll-out of a plan: who gets it, and the lines of its response. */
import type { PlanOutcome } from '../../admin/plans/give-plan.ts'
import type { RollOutRecord, RollOutReq } from '../../contract/roll-out.ts'
import type { Database } from '../../db/connection/database.ts'
import { type PlanAccount, usersOfPlan, type VersionRange } from '../../db/plans/users.ts'
import { MAX_INTEGER, MAX_LISTED_FAILURES, MAX_SAMPLES } from '../../domain/basics/bounds.ts'
import type { Giving } from '../../domain/plans/give-plan.ts'
import type { Plan } from '../../domain/plans/plan.ts'
import { roll, statusOf } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { viewOf } from '../../domain/units/view.ts'
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

/** Counts what becomes of users and of their quotas, and says what is to be known of some. */
export function createRollOutReport(isDryRun: boolean, now: () => EpochMs) {
  const counts = {
    users: { changed: 0, unchanged: 0, left_out: 0, failed: 0 },
    quotas: { made: 0, changed: 0, ended: 0, stay: 0, kept: 0 },
    carried: 0,
    again: 0,
    exhausted: 0,
  }

  function countQuotas({ slots, ended }: Giving): void {
    const { quotas } = counts
    for (const { outcome, kept } of slots) {
      if (outcome === 'made' || outcome === 'replaced') quotas.made += 1
      else quotas[outcome === 'changed' ? 'changed' : 'stay'] += 1
      if (kept.length > 0) quotas.kept += 1
    }
    quotas.ended += ended.length
  }

  function* linesOf(user_id: number, outcome: PlanOutcome): Generator<RollOutRecord, void> {
    const { users } = counts
    if (outcome.outcome === 'left_out') users.left_out += 1
    else if (outcome.outcome !== 'given') {
      users.failed += 1
      const { code, message } = refusal(outcome)
      yield { record: 'failed', user_id, code, detail: message }
    } else {
      users[outcome.changes.length > 0 ? 'changed' : 'unchanged'] += 1
      countQuotas(outcome)
      for (const record of ['carried', 'again'] as const) {
        const slots = outcome.slots.flatMap(one => (one[record] > 0 ? [{ slot: one.slot, used: one[record] }] : []))
        if (slots.length === 0) continue
        counts[record] += 1
        if (isDryRun) yield { record, user_id, slots }
      }
      const exhausted = exhaustedBy(outcome, now())
      if (exhausted.length > 0) {
        counts.exhausted += 1
        yield { record: 'exhausted', user_id, slots: exhausted }
      }
      if (isDryRun && outcome.changes.length > 0) yield sampleOf(user_id, outcome, now())
    }
  }

  const [failed, sample] = [MAX_LISTED_FAILURES, MAX_SAMPLES]
  return { counts, linesOf, listed: { failed, exhausted: failed, carried: failed, again: failed, sample } }
}

/** A user who would change: the fields of quotas that change in place, before and after, and those that stay as they were set by hand. */
function sampleOf(user_id: number, { slots, ended }: Giving, now: EpochMs): RollOutRecord {
  const shown = slots.map(({ slot, outcome, before, quota, changed, kept }) => {
    const [was, is] = [viewOf(before ?? quota, now), viewOf(quota, now)]
    return {
      slot,
      outcome,
      kept: Object.fromEntries(kept.map(name => [name, is[name]])),
      changes: Object.fromEntries(changed.map(name => [name, [was[name], is[name]]])),
    }
  })
  return { record: 'sample', user_id, slots: shown, ended: ended.length }
}

/** The slots whose quotas have nothing left by this change, and had something. */
function exhaustedBy({ slots }: Giving, now: EpochMs): string[] {
  return slots.flatMap(({ slot, before, quota }) => {
    if (before === null || statusOf(roll(quota, now).quota, now) !== 'exhausted') return []
    return statusOf(roll(before, now).quota, now) === 'exhausted' ? [] : [slot]
  })
}
