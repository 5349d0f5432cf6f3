import { randomUUID } from 'node:crypto'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { checkCluster } from '../../src/db/cluster/check.ts'
import { assertOnePointInTime } from '../../src/db/cluster/idle.ts'
import { readOverview } from '../../src/db/cluster/overview.ts'
import { distributeTables, undistributedTables } from '../../src/db/cluster/tables.ts'
import { findPlacements } from '../../src/db/cluster/topology.ts'
import { openDatabase } from '../../src/db/connection/database.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { distribute } from '../../src/db/schema/distribute.ts'
import { assertMigrated, migrate } from '../../src/db/schema/migrate.ts'
import { readMigrations } from '../../src/db/schema/migration-files.ts'
import { createOnNodes, dropOn } from '../support/citus.ts'
import { whenDone } from '../support/cleanup.ts'
import { databaseOnOwnServer } from '../support/database.ts'
import { withDatabase } from '../support/database-url.ts'
import { rawSql } from '../support/sql.ts'

test('one PostgreSQL: what is missing is named, and it is left as it is', async () => {
  const { url, db } = await single
  const result = await distribute({ url, shards: 8, isConfirmed: true })
  expect(result).toEqual({
    outcome: 'faults',
    faults: [
      {
        where: 'this database',
        fault: 'it is one PostgreSQL, without the extension citus',
        fix: expect.stringContaining('create extension citus'),
      },
    ],
  })
  expect(await readOverview(db)).toBeNull()
  expect(await checkCluster(db, { url, connections: 23 })).toBeNull()
  await assertOnePointInTime(url)
})

const single = databaseOnOwnServer()
const nodes = inject('nodes')
if (nodes !== null) describe('on a cluster', () => ofCluster(nodes))

function ofCluster(nodes: [string, ...string[]]): void {
  const [name, earlier] = [newName(), newName()]
  whenDone(() => Promise.all([dropOn(nodes, name), dropOn(nodes, earlier)]))

  test('tables are distributed with their rows, which can be repeated, and later migrations distribute theirs', async () => {
    const url = await createOnNodes(nodes, name)
    await migrate({ url })
    const db = openDatabase({ url, statementTimeout: 60_000 })
    await db.query({ text: sql`insert into account (shard, user_id) values (1, 7), (2, 8)` })
    await expect(distribute({ url, shards: 4, isConfirmed: true })).rejects.toThrow('the service is running')
    await db.close()

    const planned = await distribute({ url, shards: 4, isConfirmed: false })
    expect(planned).toMatchObject({ outcome: 'planned', tables: expect.arrayContaining(['account', 'principal']) })
    expect(await distribute({ url, shards: 4, isConfirmed: true })).toMatchObject({ outcome: 'done', shards: 4 })
    expect(await distribute({ url, shards: null, isConfirmed: true })).toEqual({
      outcome: 'done',
      shards: 4,
      tables: [],
    })
    await expect(distribute({ url, shards: 5, isConfirmed: true })).rejects.toThrow('over 4 shards')

    const distributed = openDatabase({ url, statementTimeout: 60_000 })
    expect(await distributed.query({ text: sql`select shard, user_id from account order by shard` })).toEqual([
      { shard: 1, user_id: 7 },
      { shard: 2, user_id: 8 },
    ])
    const atWorker = withDatabase(nodes[1] ?? '', name)
    await expect(migrate({ url: atWorker })).rejects.toThrow('DATABASE_URL names a worker of a cluster')
    await expect(assertMigrated({ url: atWorker })).rejects.toThrow('name the coordinator')
    expect((await findPlacements(distributed)).flatMap(({ buckets }) => buckets)).toHaveLength(64)
    const overview = await readOverview(distributed)
    expect(overview?.nodes.map(({ state }) => state?.isPrepared)).toEqual(nodes.map(() => true))
    expect(overview?.shards.every(({ bytes }) => bytes !== null && bytes > 0)).toBe(true)

    await expect(assertOnePointInTime(url)).rejects.toThrow('only while the service is stopped')
    const checked = await checkCluster(distributed, { url, connections: 23 })
    expect(checked).toEqual({ faults: [], found: `Citus, 4 shards with buckets on ${nodes.length - 1} nodes` })
    const reset = `set local citus.enable_ddl_propagation = off; alter database ${name} reset lock_timeout`
    await distributed.query({ text: rawSql`select run_command_on_workers('do $$ begin ${reset}; end $$')` })
    const faulty = await checkCluster(distributed, { url, connections: 1_000_000 })
    expect(faulty?.faults).toEqual(
      expect.arrayContaining([
        expect.stringContaining('it lacks settings for this database; run "sms-quota distribute --yes"'),
        expect.stringContaining('a process uses up to 1000004 connections, and it allows'),
      ]),
    )

    const directory = await withLaterMigration()
    expect(await migrate({ url, directory })).toHaveLength(1)
    await rm(directory, { recursive: true })
    expect(await distributed.query({ text: sql`select shard from later` })).toEqual([{ shard: 3 }])
    const kinds = sql`select partmethod as kind from pg_dist_partition where logicalrelid = 'later'::regclass`
    expect(await distributed.query({ text: kinds })).toEqual([{ kind: 'h' }])
    await distributed.close()
  })

  test('migrations of this version run on tables that an earlier one has distributed, and keep their rows', async () => {
    const url = await createOnNodes(nodes, earlier)
    const directory = await withMigrations(FIRST_ON_CLUSTERS)
    await migrate({ url, directory })
    const db = openDatabase({ url, statementTimeout: 60_000 })
    whenDone(() => db.close())
    await db.transaction(async tx => distributeTables(tx, await undistributedTables(tx), 4))
    for (const text of EARLIER_ROWS) await db.query({ text })
    const applied = await migrate({ url })
    await rm(directory, { recursive: true })
    expect(applied.at(-1)).toBe((await readMigrations()).at(-1)?.name)
    expect(await undistributedTables(db)).toEqual([])
    const kinds = sql`select distinct colocationid from pg_dist_partition where partmethod = 'h'`
    expect(await db.query({ text: kinds })).toHaveLength(1)
    const counters = sql`select q.period, q.counts, r.verified from quota q
      join reservation r on r.shard = q.shard and r.user_id = q.user_id order by q.shard`
    expect(await db.query({ text: counters })).toEqual([
      { period: 'day', counts: 'units', verified: false },
      { period: null, counts: 'units', verified: false },
    ])
    // The domain of periods is that of each node.
    await db.query({ text: sql`update quota set period = 'per_hour', per = 'recipient' where shard in (1, 2)` })
    expect(await db.query({ text: sql`select shard, state from pause_state` })).toEqual([{ shard: 0, state: 0 }])
    expect(await distribute({ url, shards: null, isConfirmed: true })).toMatchObject({ outcome: 'done', tables: [] })
  })
}

const newName = () => `sms_quota_test_${randomUUID().replaceAll('-', '')}`

/** The first version that could be distributed had these. */
const FIRST_ON_CLUSTERS = 19

/** A grant without a period and one of a day, each with a reservation. */
const EARLIER_ROWS = [
  sql`insert into account (shard, user_id) values (1, 7), (2, 8)`,
  sql`insert into quota (shard, id, user_id, kind, "limit", period, time_zone, rollover_limit, overage_limit, priority, starts_at, alert_at,
      enabled, metadata, window_start, created_at, created_by, updated_at, updated_by)
    select shard, 64 + shard, user_id, 'grant', 10, case shard when 1 then 'day' end, 'UTC', 0, 0, 100, at, '{}', true, '{}', at, at, 'a', at, 'a'
    from account, (values ('2026-03-15T12:00:00Z'::timestamptz)) of_all (at)`,
  sql`insert into reservation (shard, user_id, id, op, asked, allow_partial, force, units, committed, released, refunded, on_expiry, expired, draws,
      created_at, expires_at, changed_at)
    select shard, user_id, 'message', 'reserve', 1, false, false, 1, 0, 0, 0, 'release', false, array[64 + shard, 0, 0, 0, 0, 1], at, at, at
    from account, (values ('2026-03-15T12:00:00Z'::timestamptz)) of_all (at)`,
]

/** The folder of the first migrations. */
async function withMigrations(count: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sms-quota-migrations-'))
  const own = join(import.meta.dirname, '../../migrations')
  const names = (await readdir(own)).filter(name => name.endsWith('.sql')).sort()
  for (const name of names.slice(0, count)) await cp(join(own, name), join(directory, name))
  return directory
}

/** The folder of the migrations, with one more. */
async function withLaterMigration(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sms-quota-migrations-'))
  const own = join(import.meta.dirname, '../../migrations')
  await cp(own, directory, { recursive: true })
  const count = (await readdir(own)).filter(name => name.endsWith('.sql')).length
  const sql = `-- serves: 0.1.0
    create table later (shard smallint not null, id bigint not null, primary key (shard, id));
    insert into later values (3, 1);
    create index later_by_id on later (id);
    alter table account add column later text;`
  await writeFile(join(directory, `${String(count + 1).padStart(4, '0')}_later.sql`), sql)
  return directory
}
