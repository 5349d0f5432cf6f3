import type { Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Database } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'

/** A time per shard: no reservation that expires at that time or before has units outstanding. */
export type Watermark = Map<Shard, EpochMs>

/** Reads the watermark that all processes share. Negative infinity: not known. */
export async function loadWatermark(db: Database): Promise<Watermark> {
  const rows = await db.query<{ shard: Shard; closed_until: EpochMs }>({
    name: 'load-watermark',
    text: sql`select shard, closed_until from sweeper_watermark`,
  })
  return new Map(rows.map(row => [row.shard, row.closed_until]))
}

/** In the order of shards, so that two processes cannot deadlock. */
const SAVE = sql`
  with given as materialized (
    select w.shard, g.until
    from sweeper_watermark w join unnest($1::smallint[], $2::timestamptz[]) g (shard, until) on g.shard = w.shard
    where w.closed_until < g.until or w.closed_until > $3
    order by w.shard
    for update of w
  )
  update sweeper_watermark w set closed_until = given.until from given
  where w.shard = given.shard and (w.closed_until < given.until or w.closed_until > $3)`

/** A cluster locks rows of one shard at a time. It ends deadlocks, and the transaction is repeated. */
const SAVE_IN_CLUSTER = sql`
  update sweeper_watermark w set closed_until = given.until
  from unnest($1::smallint[], $2::timestamptz[]) given (shard, until)
  where w.shard = given.shard and w.shard = any($1::smallint[]) and (w.closed_until < given.until or w.closed_until > $3)`

/**
 * Raises the watermark of the shards given. It lowers it only where it is later than `now`: a clock was wrong. The
 * commit waits neither for the disk nor for a standby, because a watermark that is lost costs reading only, and one
 * that survives follows in the log what it was concluded from.
 */
export async function saveWatermark(db: Database, watermark: ReadonlyMap<Shard, EpochMs>, now: EpochMs): Promise<void> {
  await db.transaction(async tx => {
    await tx.query({ text: sql`set local synchronous_commit = off` })
    await tx.query({
      name: tx.isCluster ? 'save-watermark-in-cluster' : 'save-watermark',
      text: tx.isCluster ? SAVE_IN_CLUSTER : SAVE,
      values: [[...watermark.keys()], Array.from(watermark.values(), timestampParam), timestampParam(now)],
    })
  })
}

/** Takes the next transaction id. Every transaction that has written before has a lower one. */
export async function takeTransactionId(db: Database): Promise<number> {
  const [row] = await db.query<{ id: number }>({
    name: 'take-transaction-id',
    text: sql`select pg_current_xact_id()::text::bigint as id`,
  })
  if (row === undefined) throw new Error('the database returned no row')
  return row.id
}

/** Whether every transaction with a lower id has ended and is visible. One that waits for a standby is not. */
export async function haveAllEnded(db: Database, before: number): Promise<boolean> {
  const [row] = await db.query<{ ended: boolean }>({
    name: 'have-all-ended',
    text: sql`select pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= $1::bigint as ended`,
    values: [before],
  })
  return row?.ended ?? false
}
