/** A page of the audit costs the same however many changes there are, and so does a page of their retention. */
import { beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { type AuditFilter, type AuditKey, listChanges } from '../../src/db/users/audit.ts'
import { CHANGE_TABLES, removeOldChanges } from '../../src/db/users/audit-retention.ts'
import { databaseOfOnePostgres } from '../support/database.ts'
import { rawSql } from '../support/sql.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const CHANGES = 25_000
const { db } = await databaseOfOnePostgres()

// Most changes are by one actor; user 7, request "r7" and the actor "rare" have few, and old ones.
await db.query({
  text: rawSql`insert into quota_change (shard, quota_id, version, action, at, actor, request_id, before, after)
         select n % 64, n * 64 + n % 64, 1, 'created', to_timestamp($1::bigint / 1000) - n * interval '1 s',
           case when n > ${CHANGES - 20} then 'rare' else 'busy' end, 'r' || n, null,
           jsonb_build_object('user_id', case when n > ${CHANGES - 20} then 7 else n end)
         from generate_series(1, ${CHANGES}) n`,
  values: [NOW],
})
await db.query({
  text: sql`insert into webhook_change (shard, webhook_id, version, action, at, actor, request_id)
         select 0, 64, n, 'updated', to_timestamp($1::bigint / 1000) - n * interval '1 s', 'busy', 'w' || n
         from generate_series(1, 8000) n`,
  values: [NOW],
})
await db.query({
  text: sql`insert into plan_change (shard, plan_id, version, action, at, actor, request_id, after)
         select 0, 1, n, 'updated', to_timestamp($1::bigint / 1000) - n * interval '1 s', 'busy', 'p' || n, '{}'
         from generate_series(1, 8000) n`,
  values: [NOW],
})
await db.query({
  text: sql`insert into pause_change (shard, pause_id, version, user_id, action, at, actor, request_id, after)
         select 0, n, 1, n % 1000, 'created', to_timestamp($1::bigint / 1000) - n * interval '1 s', 'busy', 's' || n, '{}'
         from generate_series(1, 8000) n`,
  values: [NOW],
})
await db.query({
  text: sql`insert into increase_request_change (shard, increase_request_id, version, user_id, action, at, actor, request_id, after)
         select n % 64, n * 64 + n % 64, 1, n % 1000, 'created', to_timestamp($1::bigint / 1000) - n * interval '1 s', 'busy', 'i' || n, '{}'
         from generate_series(1, 8000) n`,
  values: [NOW],
})
await db.query({
  text: rawSql`insert into profile_change (shard, user_id, version, action, at, actor, request_id, after)
         select n % 64, n, 1, 'created', to_timestamp($1::bigint / 1000) - n * interval '1 s', 'busy', 'p' || n, '{}'
         from generate_series(1, 8000) n`,
  values: [NOW],
})
await db.query({
  text: sql`insert into erasure (shard, user_id, requested_at, requested_by, request_id, force)
         select n % 64, n, to_timestamp($1::bigint / 1000) - n * interval '1 s', 'busy', 'e' || n, false
         from generate_series(1, 8000) n`,
  values: [NOW],
})

const deep: AuditKey = { at: NOW - 20_000_000, resource: 'quota', shard: 1, id: 1, version: 1 }

/** The pages of 8 KiB that one page of changes may read: those of its rows, or of the rows that it may scan. */
const FEW = 250
const SCAN = 2_500

describe.each([
  ['before any statistics', sql``],
  [
    'with statistics',
    sql`analyze quota_change, webhook_change, plan_change, pause_change, increase_request_change, profile_change, erasure`,
  ],
])('%s', (_when, statement) => {
  beforeAll(async () => {
    if (statement !== '') await db.query({ text: statement })
  })

  test.each<[string, AuditFilter, AuditKey | undefined, number]>([
    ['all', {}, undefined, FEW],
    ['all, deep', {}, deep, FEW],
    ['of a day long ago', { from: NOW - 22_000_000, to: NOW - 20_000_000 }, undefined, FEW],
    ['of a quota', { quota_id: 64 + 1 }, undefined, FEW],
    ['of a webhook', { webhook_id: 64 }, undefined, FEW],
    ['of a plan', { plan_id: 1 }, undefined, FEW],
    ['of a pause', { pause_id: 1 }, undefined, FEW],
    ['of the pauses of a user', { user_id: 7, resource: 'pause' }, undefined, FEW],
    ['of an increase request', { increase_request_id: 65 }, undefined, FEW],
    ['of the increase requests of a user', { user_id: 7, resource: 'increase_request' }, undefined, FEW],
    ['of a user', { user_id: 7 }, undefined, FEW],
    ['of the profile of a user', { user_id: 7, resource: 'profile' }, undefined, FEW],
    ['of a request among profiles', { request_id: 'p7', resource: 'profile' }, undefined, FEW],
    ['of a rare actor among profiles', { actor: 'rare', resource: 'profile' }, undefined, FEW],
    ['of a request', { request_id: 'r7', resource: 'quota' }, undefined, FEW],
    ['of a busy actor', { actor: 'busy' }, undefined, FEW],
    ['of a rare actor', { actor: 'rare', resource: 'quota' }, undefined, FEW],
    ['of an action that is nowhere', { action: 'secret_discarded' }, undefined, SCAN],
    ['of raised limits', { raised: 'true' }, undefined, SCAN],
    ['of raised limits by a rare actor', { raised: 'true', actor: 'rare' }, undefined, FEW],
    ['of a request among erasures', { request_id: 'r7' }, undefined, SCAN],
  ])('a page %s', async (_name, filter, after, limit) => {
    const plans = await plansOf(db, await transactionOf(db, on => listChanges(on, filter, after, 20)))
    expect(plans.length).toBeGreaterThan(0)
    expect(plans.flatMap(nodesOf).map(node => node['Node Type'])).not.toContain('Seq Scan')
    expect(plans.reduce((sum, plan) => sum + blocksOf(plan), 0)).toBeLessThan(limit)
  })

  test.each(CHANGE_TABLES)('a page of the retention of %s', async table => {
    const statements = await transactionOf(db, on => removeOldChanges(on, table, NOW - 86_400_000_000, 1_000))
    const plans = await plansOf(db, statements)
    expect(plans.flatMap(nodesOf).map(node => node['Node Type'])).not.toContain('Seq Scan')
    expect(plans.reduce((sum, plan) => sum + blocksOf(plan), 0)).toBeLessThan(FEW)
  })
})
