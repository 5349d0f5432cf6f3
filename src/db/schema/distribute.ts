/** Distributes the tables of a database over a cluster. It can be repeated, and goes on where it was interrupted. */
import { SHARD_COUNT } from '../../domain/basics/shard.ts'
import { countServiceSessions } from '../cluster/idle.ts'
import { type ClusterFault, clusterFaults, prepareNodes } from '../cluster/nodes.ts'
import { distributeTables, readTables, type Table, undistributedTables } from '../cluster/tables.ts'
import { findTopology } from '../cluster/topology.ts'
import { type Database, type Log, openDatabase, type Queryable } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { splitUsage } from '../ledger/add-usage.ts'
import { migrate } from './migrate.ts'

interface DistributeOptions {
  readonly url: string
  /** The number of Citus shards: 1 to 64, fixed once the tables are distributed. Null: as many as there are. */
  readonly shards: number | null
  /** Whether to do it; otherwise it only looks. */
  readonly isConfirmed: boolean
  readonly log?: Log
}

export type Distribution =
  /** The cluster must be mended first. */
  | { readonly outcome: 'faults'; readonly faults: readonly ClusterFault[] }
  /** What would be done. Null: all tables, which migrations make first. */
  | { readonly outcome: 'planned'; readonly shards: number; readonly tables: readonly string[] | null }
  | { readonly outcome: 'done'; readonly shards: number; readonly tables: readonly string[] }

/** @throws Error if the number of shards does not fit, or the service runs on tables that are not distributed yet */
export async function distribute(options: DistributeOptions): Promise<Distribution> {
  const { url, isConfirmed, log } = options
  // To copy a large table to the workers may take long.
  const db = openDatabase({ url, maxConnections: 1, statementTimeout: 0, lockTimeout: 0, idleTransactionTimeout: 0 })
  try {
    const faults = await clusterFaults(db)
    if (faults.length > 0) return { outcome: 'faults', faults }
    const { isDistributed } = await findTopology(db)
    const shards = shardsFor(options.shards, isDistributed ? await countShards(db) : null)
    if (!isDistributed) await assertIdle(db)
    if (!isConfirmed) return { outcome: 'planned', shards, tables: await missingTables(db) }
    await migrate({ url, ...(log === undefined ? {} : { log }) })
    const tables = await distributeMissing(db, shards)
    await prepareNodes(db)
    return { outcome: 'done', shards, tables: namesOf(tables) }
  } finally {
    await db.close()
  }
}

const namesOf = (tables: readonly Table[]) => tables.map(({ name }) => name)

async function missingTables(db: Queryable): Promise<string[] | null> {
  const isEmpty = (await readTables(db)).length === 0
  return isEmpty ? null : namesOf(await undistributedTables(db))
}

function shardsFor(wanted: number | null, present: number | null): number {
  if (present !== null) {
    if (wanted === null || wanted === present) return present
    throw new Error(`the tables are distributed over ${present} shards, which stays; leave out --shards`)
  }
  if (wanted === null) throw new Error(`say over how many shards, with --shards (1 to ${SHARD_COUNT})`)
  return wanted
}

async function countShards(db: Queryable): Promise<number> {
  const [row] = await db.query<{ shards: number }>({
    text: sql`select count(*) as shards from pg_dist_shard where logicalrelid = to_regclass('account')`,
  })
  return row?.shards ?? 0
}

/** A running service found its lanes when it started: on one PostgreSQL, they are wrong after this. */
async function assertIdle(db: Queryable): Promise<void> {
  const sessions = await countServiceSessions(db)
  if (sessions > 0) throw new Error(`the service is running (${sessions} connections); stop it first`)
}

/** All or nothing. Rows that were there move to the workers, and what is left of them on the coordinator is removed. */
async function distributeMissing(db: Database, shards: number): Promise<Table[]> {
  return db.transaction(async tx => {
    const tables = await undistributedTables(tx)
    await splitUsage(tx, null)
    await distributeTables(tx, tables, shards)
    for (const { name, placement } of tables) {
      if (placement !== 'sharded') continue
      await tx.query({
        text: sql`select truncate_local_data_after_distributing_table($1::text::regclass)`,
        values: [name],
      })
    }
    return tables
  })
}
