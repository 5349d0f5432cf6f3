/**
 * What users' plans say is what their quotas say, but for what was changed by hand. Plans lie in one shard and quotas in all, so that no
 * statement of a cluster compares them: the domain does.
 */

import type { Shard } from '../../domain/basics/shard.ts'
import type { PlanVersion } from '../../domain/plans/plan.ts'
import { planDifferences } from '../../domain/plans/plan-differences.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { Database } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { findPlanVersion } from '../plans/plans.ts'
import type { PlanOfUser } from '../plans/users.ts'
import { QUOTA_COLUMNS } from '../quotas/quotas.ts'
import { IN_RANGE } from './ledger.ts'
import type { Conclusion } from './proof.ts'

/** Users with a plan whose quotas are read at a time. */
const USERS = 500

/** The versions that were read: they never change. */
type Versions = Map<string, PlanVersion | undefined>

/** Proves the plans of users of a shard, above `after` and up to `upTo`. */
export async function checkPlans(
  db: Database,
  range: { shard: Shard; after: number; upTo: number },
  max: number,
): Promise<Conclusion> {
  const conclusion: Conclusion = { proof: 'plans', checked: 0, not_provable: 0, differences: [] }
  const versions: Versions = new Map()
  for (let after = range.after; after < range.upTo && conclusion.differences.length < max; ) {
    const part = await read(db, range.shard, after, range.upTo)
    const held = new Map(part.users.map(user => [user.user_id, user]))
    conclusion.checked += part.quotas.length
    for (const [userId, quotas] of Map.groupBy(part.quotas, ({ user_id }) => user_id)) {
      const { plan_id = null, plan_version = null } = held.get(userId) ?? {}
      const plan = plan_id === null || plan_version === null ? null : { plan_id, plan_version }
      const version = plan && (await versionOf(db, versions, plan.plan_id, plan.plan_version))
      const found = planDifferences(plan, quotas, version ?? undefined)
      conclusion.differences.push(...found.map(difference => ({ ...difference, user_id: userId })))
    }
    after = part.upTo
  }
  conclusion.differences.splice(max)
  return conclusion
}

/** Users with a plan, and the quotas of plans of all users up to the last one of them. */
function read(db: Database, shard: Shard, after: number, upTo: number) {
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    const users = await tx.query<PlanOfUser>({
      text: sql`select user_id, plan_id, plan_version from account where ${IN_RANGE} and plan_id is not null
             order by user_id limit $4`,
      values: [shard, after, upTo, USERS],
    })
    const last = users.length < USERS ? upTo : (users.at(-1)?.user_id ?? upTo)
    const quotas = await tx.query<Quota>({
      text: sql`select ${QUOTA_COLUMNS} from quota where ${IN_RANGE} and plan is not null and deleted_at is null
             order by user_id, id`,
      values: [shard, after, last],
    })
    return { users, quotas, upTo: last }
  }, 'snapshot')
}

async function versionOf(db: Database, versions: Versions, id: number, version: number) {
  const key = `${id} ${version}`
  if (!versions.has(key)) versions.set(key, await findPlanVersion(db, id, version))
  return versions.get(key)
}
