import { expect, test } from 'vitest'
import { findPlacements, findTopology } from '../../src/db/cluster/topology.ts'
import { sql } from '../../src/db/connection/sql.ts'
import { SHARDS } from '../../src/domain/basics/shard.ts'
import { databaseOnOwnServer } from '../support/database.ts'

/** What Citus has in place of its catalogs and its function, as far as the service reads them. */
const CATALOGS = sql`
  create table pg_dist_partition (logicalrelid regclass, partmethod "char", repmodel "char", colocationid int);
  create table pg_dist_placement (shardid bigint, groupid int);
  create table pg_dist_node (groupid int, nodename text, nodeport int, noderole text);
  create function get_shard_id_for_distribution_column(regclass, int) returns bigint
    language sql as 'select 100 + $2 % 3';
  create function shard_name(regclass, bigint) returns text language sql as $$ select $1 || '_' || $2 $$;
  insert into pg_dist_placement values (100, 1), (101, 2), (102, 1);
  insert into pg_dist_node values (1, 'east', 5432, 'primary'), (1, 'spare', 5432, 'secondary'), (2, 'west', 5433, 'primary')`

// Servers of their own: one is never a cluster, and to change the other's catalog of extensions needs a superuser.
const { db: single } = await databaseOnOwnServer()
const { db } = await databaseOnOwnServer()

test('is one lane with all buckets on one PostgreSQL', async () => {
  expect(await findTopology(single)).toEqual({ citus: null, isDistributed: false })
  expect(await findPlacements(single)).toEqual([
    { node: '', host: '', port: 0, buckets: SHARDS, tables: {}, shardId: null },
  ])
})

test('is a lane for each Citus shard, on the node that holds it', async () => {
  await db.query({ text: CATALOGS })
  await db.query({
    text: sql`insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
      select 99999, 'citus', extowner, extnamespace, false, '14.0-1' from pg_extension where extname = 'plpgsql'`,
  })
  expect(await findTopology(db)).toEqual({ citus: '14.0-1', isDistributed: false })
  expect(await findPlacements(db)).toHaveLength(1)

  await db.query({
    text: sql`insert into pg_dist_partition values ('account', 'h', 's', 1), ('quota', 'h', 's', 1), ('principal', 'n', 't', 2)`,
  })
  expect(await findTopology(db)).toEqual({ citus: '14.0-1', isDistributed: true })
  const lanes = await findPlacements(db)
  expect(lanes[0]).toMatchObject({
    shardId: 100,
    tables: { account: 'account_100', quota: 'quota_100', principal: 'principal_100' },
  })
  expect(lanes.map(({ node, host, port }) => ({ node, host, port }))).toEqual([
    { node: 'east:5432', host: 'east', port: 5432 },
    { node: 'west:5433', host: 'west', port: 5433 },
    { node: 'east:5432', host: 'east', port: 5432 },
  ])
  expect(lanes.map(({ buckets }) => buckets)).toEqual([0, 1, 2].map(n => SHARDS.filter(shard => shard % 3 === n)))
})
