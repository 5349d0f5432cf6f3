/** Administrators' changes of plans. */
import type { PlanAction } from '../../domain/plan.ts'
import type { EpochMs } from '../../domain/time.ts'
import type { Database } from '../connection/database.ts'
import { type Slice, sliceOf } from '../connection/slice.ts'
import { sql } from '../connection/sql.ts'
import { findPlan, PLAN_SHARD } from './plans.ts'

export interface RecordedPlanChange {
  /** Numbers the changes of a plan, from 1. */
  version: number
  action: PlanAction
  at: EpochMs
  actor: string
  request_id: string
  /** The plan as the API showed it; null before its creation. */
  before: object | null
  after: object
}

/** Changes before a version, newest first; undefined if there is no such plan. */
export async function changesOfPlan(
  db: Database,
  planId: number,
  before: number,
  size: number,
): Promise<Slice<RecordedPlanChange> | undefined> {
  const changes = await db.query<RecordedPlanChange>({
    text: sql`select version, action, at, actor, request_id, before, after from plan_change
           where shard = $1 and plan_id = $2 and version < $3 order by version desc limit $4`,
    values: [PLAN_SHARD, planId, before, size + 1],
  })
  if (changes.length === 0 && (await findPlan(db, planId)) === undefined) return undefined
  return sliceOf(changes, size)
}
