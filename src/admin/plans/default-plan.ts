import type { Database } from '../../db/connection/database.ts'
import { findDefaultPlan } from '../../db/plans/plans.ts'
import { isNew, newUsers } from '../../db/plans/users.ts'
import { newUserId } from '../../db/users/profiles.ts'
import { givePlan } from '../../domain/plans/give-plan.ts'
import type { PlanVersion } from '../../domain/plans/plan.ts'
import type { Allowance } from '../../domain/quotas/quota.ts'
import { MEMORY_MS } from '../../domain/time/memories.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { SERVICE_ACTOR } from '../../domain/webhooks/webhook.ts'
import { givePlanStep } from './give-plan.ts'

export interface DefaultPlanOptions {
  db: Database
  now: () => EpochMs
  /** How many users strangers may make: takes room for a user, if there is any, and not again if that user failed; `has`: whether it would. */
  room: { take(user: string): boolean; has(user: string): boolean }
  /** Milliseconds of a clock that never goes back. */
  monotonicMs?: () => number
}

/** The `request_id` of what the default plan gives. */
const REQUEST_ID = 'default-plan'

/** The users that are remembered are twice as many, at most. */
const MAX_USERS = 50_000
/** Quotas that a step makes, at most: some 100 ms. */
const MAX_QUOTAS = 200

/**
 * Gives the default plan to users who never had a quota, by an administrator's transaction under the account's lock: exactly once, however
 * many processes do it at once. It is what the engine calls `Newcomers`.
 */
export function createDefaultPlan(options: DefaultPlanOptions): DefaultPlan {
  return new DefaultPlan(options)
}

class DefaultPlan {
  private readonly options: DefaultPlanOptions
  private readonly monotonicMs: () => number
  private plan: PlanVersion | undefined
  private planReadAt = Number.NEGATIVE_INFINITY
  /** Users who are not new. */
  private readonly known: RecentUsers
  /** Users who may be new, and found no room. */
  private readonly refused: RecentUsers
  /** Users who are new, and whose commands only check. */
  private readonly strangers: RecentUsers

  constructor(options: DefaultPlanOptions) {
    this.options = options
    this.monotonicMs = options.monotonicMs ?? (() => performance.now())
    this.known = new RecentUsers(MEMORY_MS.knownUser)
    this.refused = new RecentUsers(MEMORY_MS.newcomer)
    this.strangers = new RecentUsers(MEMORY_MS.newcomer)
  }

  mayBe(userId: number): boolean {
    const at = this.monotonicMs()
    const isNone = this.plan === undefined && at - this.planReadAt < MEMORY_MS.defaultPlan
    return !isNone && !this.known.has(userId, at) && !this.refused.has(userId, at) && this.options.room.has(`${userId}`)
  }

  async welcome(userIds: readonly number[]): Promise<void> {
    const { room } = this.options
    const plan = await this.readPlan()
    if (plan === undefined) return
    const strangers = await this.strangersAmong(userIds)
    const { true: welcomed = [], false: refused = [] } = Object.groupBy(
      strangers,
      userId => `${room.take(`${userId}`)}`,
    )
    // Else their batch would go again and again, with each user that finds room.
    for (const userId of refused) this.refused.add(userId, this.monotonicMs())
    const perStep = Math.max(1, Math.floor(MAX_QUOTAS / plan.slots.length))
    for (let from = 0; from < welcomed.length; from += perStep) {
      const step = welcomed.slice(from, from + perStep)
      await this.give(step, plan)
      // One who got the plan has quotas, and one who did not gets none now.
      for (const userId of step) this.known.add(userId, this.monotonicMs())
    }
  }

  /** Gives the plan to those who are new: another process may have given it, or an administrator a quota, since the account was read. */
  private async give(userIds: readonly number[], plan: PlanVersion): Promise<void> {
    const { db, now } = this.options
    for (let given: PlanVersion | undefined = plan; given !== undefined; ) {
      const author = { now: now(), actor: SERVICE_ACTOR, requestId: REQUEST_ID }
      const terms = { plan: given, isMeant: isNew, mustBeCurrent: true } as const
      const outcomes = await givePlanStep(db, userIds, terms, author)
      if (!outcomes.some(({ outcome }) => outcome === 'left_out')) return
      // They are not new any more, or there is another version.
      const current = await this.readPlan()
      given = current?.id === given.id && current.version === given.version ? undefined : current
    }
  }

  async look(userIds: readonly number[]): Promise<void> {
    if ((await this.readPlan()) === undefined) return
    const strangers = await this.strangersAmong(userIds)
    const at = this.monotonicMs()
    for (const userId of strangers) this.strangers.add(userId, at)
  }

  previewOf(userId: number, now: EpochMs): readonly Allowance[] | undefined {
    const { plan } = this
    return plan === undefined || !this.strangers.has(userId, this.monotonicMs())
      ? undefined
      : quotasOf(plan, userId, now)
  }

  async previewOfUnmade(now: EpochMs): Promise<readonly Allowance[]> {
    if (!this.options.room.has('')) return []
    const isRead = this.monotonicMs() - this.planReadAt < MEMORY_MS.defaultPlan
    const plan = isRead ? this.plan : await this.readPlan()
    return plan === undefined ? [] : quotasOf(plan, newUserId(), now)
  }

  private async readPlan(): Promise<PlanVersion | undefined> {
    this.plan = await findDefaultPlan(this.options.db)
    this.planReadAt = this.monotonicMs()
    return this.plan
  }

  /** Those of the users who never had a quota. The others are known from now on. */
  private async strangersAmong(userIds: readonly number[]): Promise<number[]> {
    const strangers = await newUsers(this.options.db, userIds)
    const at = this.monotonicMs()
    for (const userId of userIds) if (!strangers.has(userId)) this.known.add(userId, at)
    return userIds.filter(userId => strangers.has(userId))
  }
}

/** The quotas of a user who gets the plan. */
function quotasOf(plan: PlanVersion, userId: number, now: EpochMs): readonly Allowance[] {
  let lastId = 0
  const none = { earlier: [], sentSince: () => [] }
  const given = givePlan([], plan, {}, { now, actor: SERVICE_ACTOR, userId, nextId: () => ++lastId, ...none })
  return given.outcome === 'given' ? given.slots.map(({ quota }) => quota) : []
}

/** Users for some time after they were added. Those who came first are forgotten when they are too many. */
class RecentUsers {
  private readonly keptMs: number
  private recent = new Map<number, number>()
  private older = new Map<number, number>()

  constructor(keptMs: number) {
    this.keptMs = keptMs
  }

  add(userId: number, at: number): void {
    if (this.recent.size >= MAX_USERS) {
      this.older = this.recent
      this.recent = new Map()
    }
    this.recent.set(userId, at)
  }

  has(userId: number, at: number): boolean {
    const addedAt = this.recent.get(userId) ?? this.older.get(userId)
    return addedAt !== undefined && at - addedAt < this.keptMs
  }
}
