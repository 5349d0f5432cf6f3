/** Names beside ids, references and the search for both cost what they find, however many users there are. */
import { beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, nodesOf, plansOf, transactionOf } from '../../bench/explain.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { namesOfUsers, removeFreedReferences, usersByReference } from '../../src/db/users/profiles.ts'
import { search } from '../../src/db/users/search.ts'
import { shardOf, shardOfReference } from '../../src/domain/shard.ts'
import { databaseOfOnePostgres } from '../support/database.ts'

const NOW = Date.parse('2026-03-15T12:00:00.000Z')
const USERS = 20_000
const { db } = await databaseOfOnePostgres()

const ids = Array.from({ length: USERS }, (_, user) => user)
const refs = ids.map(user => `ref-${user}`)
const users = [ids.map(shardOf), ids, refs, refs.map(shardOfReference)]
await db.query({
  text: sql`insert into account (shard, user_id) select * from unnest($1::smallint[], $2::bigint[])`,
  values: users.slice(0, 2),
})
await db.query({
  text: sql`insert into user_profile (shard, user_id, ref, name, version, updated_at, updated_by)
         select shard, user_id, ref, 'Name ' || user_id, 1, to_timestamp(0), 'a'
         from unnest($1::smallint[], $2::bigint[], $3::text[]) u (shard, user_id, ref)`,
  values: users.slice(0, 3),
})
await db.query({
  text: sql`insert into user_ref (shard, ref, user_id) select shard, ref, user_id
         from unnest($1::smallint[], $2::text[], $3::bigint[]) u (shard, ref, user_id)`,
  values: [users[3] ?? [], refs, ids],
})

describe.each([
  ['before any statistics', sql``],
  ['with statistics', sql`analyze account, user_profile, user_ref`],
])('%s', (_when, statement) => {
  beforeAll(async () => {
    if (statement !== '') await db.query({ text: statement })
  })

  test.each<[string, number, (on: Database) => Promise<unknown>]>([
    ['the names on a page of 200', 1_000, on => namesOfUsers(on, ids.slice(0, 200))],
    ['the users of 1,000 references', 5_000, on => usersByReference(on, refs.slice(0, 1_000))],
    ['a search for a reference', 2_000, on => search(on, 'ref-1', 21, NOW)],
    ['a search for a name', 2_000, on => search(on, 'name 1', 21, NOW)],
    ['a search for what is nowhere', 2_000, on => search(on, 'nowhere', 21, NOW)],
    ['a page of freed references', 100, on => removeFreedReferences(on, NOW, 1_000)],
  ])('%s', async (_name, limit, work) => {
    const plans = await plansOf(db, await transactionOf(db, work))
    expect(plans.length).toBeGreaterThan(0)
    const scans = plans.flatMap(nodesOf).filter(node => node['Node Type'] === 'Seq Scan')
    expect(scans.filter(node => /^(user_|account)/.test(String(node['Relation Name'])))).toEqual([])
    expect(plans.reduce((sum, plan) => sum + blocksOf(plan), 0)).toBeLessThan(limit)
  })
})
