/** Which users have which plan: a part of their accounts, and of the quotas that the plan gave. */

import { shardOf } from '../../domain/basics/shard.ts'
import type { PlanVersion } from '../../domain/plans/plan.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { shardFilter } from '../cluster/parts.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { expiredAt, fencedSince } from '../ledger/unexpired.ts'
import { QUOTA_COLUMNS } from '../quotas/quotas.ts'
import { PLAN_SHARD } from './plans.ts'

/** The plan of a user, in the version that was given. Both are null without one. */
export interface PlanOfUser {
  user_id: number
  plan_id: number | null
  plan_version: number | null
}

/** An account, as far as plans are concerned. */
export interface PlanAccount extends PlanOfUser {
  /** When a quota of the user was last changed by an administrator; null: none ever was. */
  live_at: EpochMs | null
}

/** Whether an account is there without any quota, as the engine makes some. */
export const isNew = ({ plan_id, live_at }: PlanAccount) => plan_id === null && live_at === null

/**
 * The users, of these, who never had a quota: also none that was deleted and removed since. An account of an old version that had some may
 * lack `live_at`, so their quotas are looked for, too.
 */
export function newUsers(db: Database, userIds: readonly number[]): Promise<Set<number>> {
  return db.transaction(async tx => {
    const accounts = await plansOfUsers(tx, userIds)
    const known = new Set(accounts.filter(account => !isNew(account)).map(({ user_id }) => user_id))
    const unsure = accounts.map(({ user_id }) => user_id).filter(userId => !known.has(userId))
    for (const state of unsure.length === 0 ? [] : [sql`null`, sql`not null`]) {
      const rows = await tx.query<{ user_id: number }>({
        text: sql`select distinct q.user_id from unnest($1::smallint[], $2::bigint[]) k (shard, user_id)
               join quota q on q.shard = k.shard and q.user_id = k.user_id
               where q.deleted_at is ${state} ${shardFilter(tx, sql`q.shard`, sql`$1`)}`,
        values: [unsure.map(shardOf), unsure],
      })
      for (const { user_id } of rows) known.add(user_id)
    }
    return new Set(userIds.filter(userId => !known.has(userId)))
  }, 'keyed snapshot')
}

/** The accounts of those of the users who have one. */
export function plansOfUsers(tx: Transaction, userIds: readonly number[]): Promise<PlanAccount[]> {
  return tx.query<PlanAccount>({
    text: sql`select a.user_id, a.plan_id, a.plan_version, a.live_at from unnest($1::smallint[], $2::bigint[]) k (shard, user_id)
           join account a on a.shard = k.shard and a.user_id = k.user_id
           where true ${shardFilter(tx, sql`a.shard`, sql`$1`)}`,
    values: [userIds.map(shardOf), userIds],
  })
}

/** Versions of a plan, both ends included. */
export interface VersionRange {
  from: number
  to: number
}

/**
 * A page of the users who have some versions of a plan, in the order of versions, shards and users, after one of them. Those who get
 * another version meanwhile move in that order, so that some may be on no page or on two.
 */
export function usersOfPlan(
  db: Database,
  planId: number,
  { from, to }: VersionRange,
  after: PlanAccount | undefined,
  size: number,
): Promise<PlanAccount[]> {
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    const user = after?.user_id ?? -1
    return tx.query<PlanAccount>({
      text: sql`select user_id, plan_id, plan_version, live_at from account
             where plan_id = $1 and plan_version <= $5 and (plan_version, shard, user_id) > ($2, $3, $4)
             order by plan_version, shard, user_id limit $6`,
      values: [planId, after?.plan_version ?? from, after === undefined ? -1 : shardOf(user), user, to, size],
    })
  }, 'snapshot')
}

/** Writes the plans of users, whose accounts are locked. */
export async function setPlansOfUsers(tx: Transaction, plans: readonly PlanOfUser[]): Promise<void> {
  await tx.query({
    text: sql`update account a set plan_id = k.plan_id, plan_version = k.plan_version
           from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[]) k (shard, user_id, plan_id, plan_version)
           where a.shard = k.shard and a.user_id = k.user_id ${shardFilter(tx, sql`a.shard`, sql`$1`)}`,
    values: [
      plans.map(({ user_id }) => shardOf(user_id)),
      plans.map(({ user_id }) => user_id),
      plans.map(({ plan_id }) => plan_id),
      plans.map(({ plan_version }) => plan_version),
    ],
  })
}

/**
 * The quotas of the users' plans that are over: `quotasOfUsers` reads the others. Only administrators, who hold the accounts' locks, change
 * which these are.
 */
export function expiredQuotasOfPlans(
  tx: Transaction,
  userIds: readonly number[],
  now: EpochMs,
): Promise<Pick<Quota, 'user_id' | 'id'>[]> {
  return tx.query<Pick<Quota, 'user_id' | 'id'>>({
    text: sql`select q.user_id, q.id from unnest($1::smallint[], $2::bigint[]) k (shard, user_id)
           join quota q on q.shard = k.shard and q.user_id = k.user_id
           where q.plan is not null and ${expiredAt(sql`$3`)} ${shardFilter(tx, sql`q.shard`, sql`$1`)}`,
    values: [userIds.map(shardOf), userIds, timestampParam(fencedSince(now))],
  })
}

/**
 * The users' quotas that were of their plan, and are no more: ended by it, with a window that might still be open, or deleted while they were
 * of it. By id. Their counters may change meanwhile, as what was reserved is settled.
 */
export function formerQuotas(tx: Transaction, userIds: readonly number[], now: EpochMs): Promise<Quota[]> {
  return tx.query<Quota>({
    text: sql`select ${QUOTA_COLUMNS} from unnest($1::smallint[], $2::bigint[]) k (of_shard, of_user)
           join quota on shard = of_shard and user_id = of_user
           where (former is not null or (plan is not null and deleted_at is not null))
             and coalesce((former ->> 'until')::bigint > $3, true) ${shardFilter(tx, sql`shard`, sql`$1`)}
           order by id`,
    values: [userIds.map(shardOf), userIds, now],
  })
}

/** The plan of a user, and its quotas by id; undefined if the user has none. */
export function planOfUser(
  db: Database,
  userId: number,
): Promise<{ plan: Omit<PlanVersion, 'slots'>; quotas: Quota[] } | undefined> {
  return db.transaction(async tx => {
    const [account] = await plansOfUsers(tx, [userId])
    if (account?.plan_id == null) return undefined
    const [plan] = await tx.query<Omit<PlanVersion, 'slots'>>({
      text: sql`select plan_id as id, version, name from plan_version where shard = $1 and plan_id = $2 and version = $3`,
      values: [PLAN_SHARD, account.plan_id, account.plan_version],
    })
    const quotas = await tx.query<Quota>({
      text: sql`select ${QUOTA_COLUMNS} from quota where shard = $1 and user_id = $2 and plan is not null and deleted_at is null
             order by id`,
      values: [shardOf(userId), userId],
    })
    return plan && { plan, quotas }
  }, 'keyed snapshot')
}
