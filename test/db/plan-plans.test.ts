/** A page of plans, and the count of their users, are read by an index. */
import { expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { listPlans, usersByVersion } from '../../src/db/plans/plans.ts'
import { formerQuotas, usersOfPlan } from '../../src/db/plans/users.ts'
import { lockAccounts } from '../../src/db/quotas/quotas.ts'
import { shardOf } from '../../src/domain/shard.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const USERS = 20_000
const { db } = await databaseOfOnePostgres()
await db.query({
  text: sql`insert into plan (shard, id, version, is_default, archived_at, created_at, created_by, updated_at, updated_by)
         select 0, n, 2, false, case when n % 2 = 0 then now() end, now(), 'a', now(), 'a' from generate_series(1, 2000) n`,
})
await db.query({
  text: sql`insert into plan_version (shard, plan_id, version, name, slots)
         select 0, n, version, 'Plan ' || n, '[]' from generate_series(1, 2000) n, generate_series(1, 2) version`,
})
// Every hundredth user has plan 1, all others another one.
await db.query({
  text: rawSql`insert into account (shard, user_id, plan_id, plan_version)
         select n % 64, n, case when n % 100 = 0 then 1 else 2 + n % 50 end, 1 + n % 2 from generate_series(1, ${USERS}) n`,
})

const kindsIn = (plans: Awaited<ReturnType<typeof plansOf>>) => plans.flatMap(nodesOf).map(node => node['Node Type'])
const readIn = (plans: Awaited<ReturnType<typeof plansOf>>) => plans.reduce((sum, plan) => sum + blocksOf(plan), 0)

test.each([false, true])('a page of plans, archived: %s', async archived => {
  const plans = await plansOf(db, await transactionOf(db, on => listPlans(on, archived, 1_000, 20)))
  expect(plans.length).toBeGreaterThan(0)
  expect(kindsIn(plans)).not.toContain('Seq Scan')
  expect(readIn(plans)).toBeLessThan(250)
})

test('the users of a plan are counted in an index', async () => {
  await db.query({ text: sql`vacuum analyze account` })
  const plans = await plansOf(db, await transactionOf(db, on => usersByVersion(on, 1)))
  expect(kindsIn(plans)).toContain('Index Only Scan')
  expect(readIn(plans)).toBeLessThan(50)
  expect(await usersByVersion(db, 1)).toEqual([{ version: 1, users: USERS / 100 }])
})

test.each([
  ['the first', undefined],
  ['a deep', { user_id: 12_300, plan_id: 2, plan_version: 1, live_at: null }],
])('%s page of the users of a plan is read in an index', async (_which, after) => {
  for (const versions of [
    { from: 1, to: 1 },
    { from: 1, to: 1_000 },
  ]) {
    const plans = await plansOf(db, await transactionOf(db, on => usersOfPlan(on, 2, versions, after, 20)))
    expect(kindsIn(plans)).not.toContain('Seq Scan')
    expect(kindsIn(plans)).not.toContain('Sort')
    expect(readIn(plans)).toBeLessThan(100)
  }
  const all = await usersOfPlan(db, 2, { from: 1, to: 2 }, undefined, USERS)
  expect(all.length).toBe(USERS / 50 - USERS / 100)
})

test('the former quotas of users are read in an index, past all that were never of a plan', async () => {
  const user = 130
  await db.transaction(tx => lockAccounts(tx, [user]))
  await db.query({
    text: rawSql`insert into quota (shard, id, user_id, kind, "limit", time_zone, rollover_limit, overage_limit, priority, starts_at, alert_at,
             enabled, metadata, window_start, created_at, created_by, updated_at, updated_by, former)
           select ${shardOf(user)}, n, ${user}, 'grant', 1, 'UTC', 0, 0, 100, now(), '{}', true, '{}', now(), now(), 'a', now(), 'a',
             case when n <= 3 then jsonb_build_object('slot', 'a', 'until', case n when 1 then 5 when 2 then 500 end) end
           from generate_series(1, 5000) n`,
  })
  await db.query({ text: sql`vacuum analyze quota` })
  const read = (on: Database) => on.transaction(tx => formerQuotas(tx, [user, 131], 100))
  const plans = await plansOf(db, await transactionOf(db, read))
  expect(kindsIn(plans)).not.toContain('Seq Scan')
  expect(readIn(plans)).toBeLessThan(20)
  expect((await read(db)).map(({ id }) => id)).toEqual([2, 3])
})
