/** Rows of plans. There are few, all in one shard: see the migration `plans`. */
import { MAX_INTEGER, MAX_PLANS } from '../../domain/basics/bounds.ts'
import { COMMON_SHARD } from '../../domain/basics/shard.ts'
import { type Plan, type PlanVersion, slotOf } from '../../domain/plans/plan.ts'
import type { Database, Queryable, Transaction } from '../connection/database.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { LISTS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { slotIn, storedSlot } from '../ledger/stored-period.ts'
import { cut, type Page, type Slice } from '../lists/pages.ts'

export const PLAN_SHARD = COMMON_SHARD

const COLUMNS = sql`p.id, p.version, v.name, v.slots, p.is_default, p.rate_card_id, p.archived_at, p.created_at, p.created_by, p.updated_at, p.updated_by`
const VERSION = sql`join plan_version v on v.shard = p.shard and v.plan_id = p.id and v.version = p.version`

/** A later version of the service may have added fields of slots. */
const withSlots = <Row extends PlanVersion>(row: Row): Row => ({
  ...row,
  slots: row.slots.map(slot => slotOf(slotIn(slot))),
})

async function plansOf(db: Queryable, condition: Sql, values: (number | string)[] = []): Promise<Plan[]> {
  const rows = await db.query<Plan>({
    text: sql`select ${COLUMNS} from plan p ${VERSION} where p.shard = ${sqlInteger(PLAN_SHARD)} and ${condition}`,
    values,
  })
  return rows.map(withSlots)
}

export async function findPlan(db: Queryable, id: number): Promise<Plan | undefined> {
  const [plan] = await plansOf(db, sql`p.id = $1`, [id])
  return plan
}

/** The plans with a name, but for archived ones: at most as many as a message lists. */
export function plansNamed(db: Queryable, name: string, size: number): Promise<Plan[]> {
  return plansOf(db, sql`p.archived_at is null and v.name = $1 order by p.id limit $2`, [name, size])
}

/** A version of a plan, which never changes. */
export async function findPlanVersion(db: Queryable, id: number, version: number): Promise<PlanVersion | undefined> {
  const [found] = await db.query<PlanVersion>({
    text: sql`select plan_id as id, version, name, slots from plan_version where shard = $1 and plan_id = $2 and version = $3`,
    values: [PLAN_SHARD, id, version],
  })
  return found && withSlots(found)
}

/** The plan that users get who never had a quota. */
export async function findDefaultPlan(db: Queryable): Promise<Plan | undefined> {
  const [plan] = await plansOf(db, sql`p.is_default`)
  return plan
}

/** A page of plans, newest first. */
export function listPlans(
  db: Database,
  { archived }: { archived?: 'true' | 'false' },
  { after = MAX_INTEGER, size }: Page<number>,
): Promise<Slice<Plan, number>> {
  return db.transaction(async tx => {
    await tx.query({ text: LISTS })
    const state = archived === 'true' ? sql`is not null` : sql`is null`
    const page = sql`p.id < $1 and p.archived_at ${state} order by p.id desc limit $2`
    return cut(await plansOf(tx, page, [after, size + 1]), size, ({ id }) => id)
  }, 'snapshot')
}

/** The plans, but for archived ones, whose id or name begins with a text, by id. There are so few that all are looked at. */
export function plansBeginningWith(
  db: Queryable,
  text: string,
  size: number,
): Promise<Pick<Plan, 'id' | 'name' | 'version' | 'is_default'>[]> {
  return db.query<Pick<Plan, 'id' | 'name' | 'version' | 'is_default'>>({
    text: sql`select p.id, v.name, p.version, p.is_default from plan p ${VERSION}
           where p.shard = $1 and p.archived_at is null
             and (starts_with(p.id::text, $2) or starts_with(lower(v.name), lower($2))) order by p.id limit $3`,
    values: [PLAN_SHARD, text, size],
  })
}

/** Lets one transaction at a time change plans, and none while a plan is given that must be the current version (`holdVersion`). */
export async function lockPlans(tx: Transaction): Promise<void> {
  // Before the head of the shard, which those lock last.
  await tx.query({ text: sql`select from plan where shard = $1 order by id for update`, values: [PLAN_SHARD] })
  await tx.query({ text: sql`select from shard_head where shard = $1 for update`, values: [PLAN_SHARD] })
}

/** Whether this is the current version of a plan; it stays so until the end of the transaction. */
export async function holdVersion(tx: Transaction, { id, version }: PlanVersion): Promise<boolean> {
  const [plan] = await tx.query<{ version: number }>({
    text: sql`select version from plan where shard = $1 and id = $2 for share`,
    values: [PLAN_SHARD, id],
  })
  return plan?.version === version
}

/** An id for a plan to be made; undefined if there are `MAX_PLANS`. The plans are locked. */
export async function nextPlanId(tx: Transaction): Promise<number | undefined> {
  const [row] = await tx.query<{ last: number; present: number }>({
    text: sql`select coalesce(max(id), 0) as last, count(*) filter (where archived_at is null) as present from plan where shard = $1`,
    values: [PLAN_SHARD],
  })
  return row === undefined || row.present >= MAX_PLANS ? undefined : row.last + 1
}

/** Writes a plan that is new, or that has changed from `before`. */
export async function writePlan(tx: Transaction, plan: Plan, before: Plan | null): Promise<void> {
  const {
    id,
    version,
    name,
    slots,
    is_default,
    rate_card_id,
    archived_at,
    created_at,
    created_by,
    updated_at,
    updated_by,
  } = plan
  if (version !== before?.version) {
    await tx.query({
      text: sql`insert into plan_version (shard, plan_id, version, name, slots) values ($1, $2, $3, $4, $5)`,
      values: [PLAN_SHARD, id, version, name, JSON.stringify(slots.map(storedSlot))],
    })
  }
  await tx.query({
    text: sql`insert into plan (shard, id, version, is_default, rate_card_id, archived_at, created_at, created_by, updated_at, updated_by)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
           on conflict (shard, id) do update set version = excluded.version, is_default = excluded.is_default,
             rate_card_id = excluded.rate_card_id, archived_at = excluded.archived_at, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    values: [
      PLAN_SHARD,
      id,
      version,
      is_default,
      rate_card_id,
      timestampParam(archived_at),
      timestampParam(created_at),
      created_by,
      timestampParam(updated_at),
      updated_by,
    ],
  })
}

/** The number of users that have a version of a plan. */
export interface VersionUsers {
  version: number
  users: number
}

/** How many users have which version, the newest first. It reads an index, and takes a second for some ten million users. */
export function usersByVersion(db: Queryable, planId: number): Promise<VersionUsers[]> {
  return db.query<VersionUsers>({
    text: sql`select plan_version as version, count(*) as users from account where plan_id = $1
           group by plan_version order by plan_version desc`,
    values: [planId],
  })
}
