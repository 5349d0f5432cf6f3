import type { Database, Transaction } from '../../db/connection/database.ts'
import { withNumbers } from '../../db/connection/sequences.ts'
import { BY_KEYS_IN_ORDER } from '../../db/connection/transaction-settings.ts'
import { holdVersion } from '../../db/plans/plans.ts'
import {
  expiredQuotasOfPlans,
  formerQuotas,
  type PlanAccount,
  type PlanOfUser,
  plansOfUsers,
  setPlansOfUsers,
} from '../../db/plans/users.ts'
import {
  type Concerned,
  lockAccounts,
  lockKnownAccounts,
  nextQuotaNumbers,
  quotasOfUsers,
} from '../../db/quotas/quotas.ts'
import { sentSince } from '../../db/usage/sums.ts'
import { usersBeingErased } from '../../db/users/erasure.ts'
import { quotaIdOf, shardOf } from '../../domain/basics/shard.ts'
import type { UnknownValue } from '../../domain/basics/unknown-value.ts'
import { type Giving, givePlan, type Manner } from '../../domain/plans/give-plan.ts'
import type { PlanVersion } from '../../domain/plans/plan.ts'
import type { Sent, SentSince } from '../../domain/plans/used-before.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Author } from '../kit/author.ts'
import { type DecisionsOfUser, recordChanges } from '../kit/record-change.ts'
import { createUserChanges } from '../kit/user-changes.ts'
import type { ForbiddenByOthers } from '../kit/user-limits.ts'

/** The plan that users get, and how. */
export interface PlanTerms extends Manner {
  /** Null: their plan is taken away. */
  plan: PlanVersion | null
  /** Whether a user gets it, by the plan that the user has under the account's lock. Left out: each user does. */
  isMeant?: (user: PlanAccount) => boolean
  /**
   * Whether users are left out once the plan has a later version than this. Else a roll-out of that version could pass users who are about to
   * get this one.
   */
  mustBeCurrent?: true
  /** Why, for the history. */
  reason?: string | undefined
}

/** The result for a user. One who is refused does not affect the others. */
export type PlanOutcome =
  | Giving
  /** The user has another plan than those who are meant, or a later version of the one to be given; or there is a later version (`mustBeCurrent`). */
  | { outcome: 'left_out' }
  | { outcome: 'being_erased' }
  | { outcome: 'unknown_value'; cause: UnknownValue }
  | ForbiddenByOthers

/**
 * One step: gives users a plan, or takes theirs away, in one transaction under the locks of their accounts, with a statement per table. It
 * can be repeated: what a user has already changes nothing.
 *
 * @param userIds without duplicates
 * @returns what became of each user, in their order
 */
export function givePlanStep(
  db: Database,
  userIds: readonly number[],
  terms: PlanTerms,
  author: Author,
): Promise<PlanOutcome[]> {
  return withNumbers(db, () =>
    db.transaction(async tx => {
      await tx.query({ text: BY_KEYS_IN_ORDER })
      // In the order in which accounts are locked and rows are written.
      const users = userIds.toSorted((one, other) => one - other)
      const locked = await lockMeant(tx, users, terms)
      const { plan, mustBeCurrent = false } = terms
      if (plan !== null && mustBeCurrent && !(await holdVersion(tx, plan))) return userIds.map(() => LEFT_OUT)
      const known = await readUsers(tx, locked, author, 'lock')
      const count = countMade(decide(users, known, terms, author, () => 0).outcomes)
      await known.usage.read(tx)
      const numbers = (count === 0 ? [] : await nextQuotaNumbers(tx, count)).values()
      const decided = decide(users, known, terms, author, () => numbers.next().value ?? 0)
      if (decided.plans.length > 0) await setPlansOfUsers(tx, decided.plans)
      if (decided.users.length > 0) await recordChanges(tx, decided.users, author)
      return inOrder(userIds, decided.outcomes)
    }),
  )
}

const LEFT_OUT: PlanOutcome = { outcome: 'left_out' }

/** Locks accounts, and makes those that are missing if users without one get the plan. @returns the users whose accounts are locked */
async function lockMeant(tx: Transaction, userIds: readonly number[], { plan, isMeant = () => true }: PlanTerms) {
  if (plan === null || !userIds.some(userId => isMeant(withoutPlan(userId))))
    return [...(await lockKnownAccounts(tx, userIds))]
  await lockAccounts(tx, userIds)
  return userIds
}

const withoutPlan = (user_id: number): PlanAccount => ({ user_id, plan_id: null, plan_version: null, live_at: null })

/** Quotas that a transaction makes or changes, at most: some 100 ms. */
const MAX_QUOTAS = 200

/** Gives users a plan in steps that are short, or previews that. @returns what became of each user, in their order */
export async function givePlanInSteps(
  step: typeof givePlanStep,
  db: Database,
  userIds: readonly number[],
  terms: PlanTerms,
  author: () => Author,
): Promise<PlanOutcome[]> {
  const perStep = Math.max(1, Math.floor(MAX_QUOTAS / (terms.plan?.slots.length ?? 1)))
  const outcomes: PlanOutcome[] = []
  for (let from = 0; from < userIds.length; from += perStep)
    outcomes.push(...(await step(db, userIds.slice(from, from + perStep), terms, author())))
  return outcomes
}

/** What a step would do, decided from what is stored. */
export function previewPlanStep(
  db: Database,
  userIds: readonly number[],
  terms: PlanTerms,
  author: Author,
): Promise<PlanOutcome[]> {
  return db.transaction(async tx => {
    const known = await readUsers(tx, userIds, author, 'read')
    decide(userIds, known, terms, author, () => 0)
    await known.usage.read(tx)
    return inOrder(userIds, decide(userIds, known, terms, author, () => 0).outcomes)
  }, 'keyed snapshot')
}

/** What is decided on. */
interface Known {
  plans: ReadonlyMap<number, PlanAccount>
  erased: ReadonlySet<number>
  /** The users' unexpired quotas, and all that are of a plan. */
  quotas: ReadonlyMap<number, readonly Quota[]>
  /** The users' quotas that were of their plan. */
  former: ReadonlyMap<number, readonly Quota[]>
  usage: AskedUsage
}

/** What users have sent since times that a decision asks for, which is none at first: it is taken again once that was read. */
interface AskedUsage {
  of(userId: number): SentSince
  read(tx: Transaction): Promise<void>
}

function createAskedUsage(): AskedUsage {
  const asked = new Map<string, { userId: number; since: EpochMs; sent: readonly Sent[] }>()
  return {
    of: userId => since => {
      const key = `${userId} ${since}`
      const known = asked.get(key) ?? { userId, since, sent: [] }
      asked.set(key, known)
      return known.sent
    },
    async read(tx) {
      for (const one of asked.values()) one.sent = await sentSince(tx, one.userId, one.since)
    },
  }
}

async function readUsers(
  tx: Transaction,
  userIds: readonly number[],
  { now }: Author,
  mode: 'lock' | 'read',
): Promise<Known> {
  const plans = await plansOfUsers(tx, userIds)
  const concerned: (Concerned & Pick<Quota, 'user_id'>)[] = [
    ...userIds.map(user_id => ({ user_id })),
    ...(await expiredQuotasOfPlans(tx, userIds, now)),
  ]
  const quotas = await quotasOfUsers(tx, concerned, now, mode)
  return {
    plans: new Map(plans.map(plan => [plan.user_id, plan])),
    erased: await usersBeingErased(tx, userIds),
    quotas: Map.groupBy(quotas, ({ user_id }) => user_id),
    former: Map.groupBy(await formerQuotas(tx, userIds, now), ({ user_id }) => user_id),
    usage: createAskedUsage(),
  }
}

interface Decided {
  outcomes: Map<number, PlanOutcome>
  users: DecisionsOfUser[]
  plans: PlanOfUser[]
}

/** @param nextNumber of the id of a quota to be made */
function decide(
  userIds: readonly number[],
  known: Known,
  terms: PlanTerms,
  author: Author,
  nextNumber: () => number,
): Decided {
  const { plans, erased } = known
  const decided: Decided = { outcomes: new Map(), users: [], plans: [] }
  for (const userId of userIds) {
    const user = plans.get(userId) ?? withoutPlan(userId)
    const { outcome, changes } = erased.has(userId)
      ? { outcome: { outcome: 'being_erased' } as const, changes: [] }
      : giveOne(user, known, terms, author, nextNumber)
    decided.outcomes.set(userId, outcome)
    if (outcome.outcome !== 'given') continue
    decided.users.push(...changes)
    const plan_id = terms.plan?.id ?? null
    const plan_version = terms.plan?.version ?? null
    if (user.plan_id !== plan_id || user.plan_version !== plan_version)
      decided.plans.push({ user_id: userId, plan_id, plan_version })
  }
  return decided
}

function giveOne(
  user: PlanAccount,
  { quotas, former, usage }: Known,
  { plan, isMeant = () => true, reason, ...manner }: PlanTerms,
  author: Author,
  nextNumber: () => number,
): { outcome: PlanOutcome; changes: DecisionsOfUser[] } {
  // The plan was read before the account was locked, minutes before by a roll-out. No later version is taken away for it.
  const hasLater = plan !== null && user.plan_id === plan.id && (user.plan_version ?? 0) > plan.version
  if (hasLater || !isMeant(user)) return { outcome: LEFT_OUT, changes: [] }
  const userId = user.user_id
  const nextId = () => quotaIdOf(nextNumber(), shardOf(userId))
  const stored = quotas.get(userId) ?? []
  const planned = stored.filter(quota => quota.plan !== null)
  const earlier = former.get(userId) ?? []
  const giving = givePlan(planned, plan, manner, { ...author, userId, nextId, earlier, sentSince: usage.of(userId) })
  if (giving.outcome !== 'given') return { outcome: giving, changes: [] }
  const changes = createUserChanges(stored, author.now)
  for (const decision of giving.changes) {
    const change = reason === undefined ? decision.change : { ...decision.change, reason }
    const forbidden = changes.add({ ...decision, change })
    // The user gets the plan as a whole, or nothing of it.
    if (forbidden !== undefined) return { outcome: forbidden, changes: [] }
  }
  return { outcome: giving, changes: changes.changes }
}

/** How many quotas are made. */
function countMade(outcomes: ReadonlyMap<number, PlanOutcome>): number {
  let count = 0
  for (const outcome of outcomes.values())
    if (outcome.outcome === 'given') count += outcome.changes.filter(({ change }) => change.before === null).length
  return count
}

function inOrder(userIds: readonly number[], outcomes: ReadonlyMap<number, PlanOutcome>): PlanOutcome[] {
  return userIds.map(userId => {
    const outcome = outcomes.get(userId)
    if (outcome === undefined) throw new Error(`user ${userId} has no outcome`)
    return outcome
  })
}
