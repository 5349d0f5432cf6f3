/** Removes old denials from the log. */

import type { Shard } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { DenialKey } from '../../domain/units/denial.ts'
import { shardFilter } from '../cluster/parts.ts'
import type { Database } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'

/** A denial to be removed. */
export interface OldDenial extends DenialKey {
  shard: Shard
}

/** Denials read at a time; a few more if several are of the same millisecond. */
export const DENIAL_PAGE = 2_000

const AT = sql`(at at time zone 'UTC')`

/**
 * The first denials of all shards after `after` and at `cutoff` at the latest, oldest first: about `rows` of them. Takes no
 * lock.
 */
export function findOldDenials(db: Database, after: EpochMs, cutoff: EpochMs, rows: number): Promise<OldDenial[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return tx.query<OldDenial>({
      name: 'find-old-denials',
      text: sql`select shard, user_id, at, number from denial
             where ${AT} > ($1::timestamptz at time zone 'UTC') and ${AT} <= ($2::timestamptz at time zone 'UTC')
             order by ${AT} fetch first ($3::bigint) rows with ties`,
      values: [timestampParam(after), timestampParam(cutoff), rows],
    })
  }, 'snapshot')
}

/**
 * Removes denials of one shard. Resolves to how many another process had not removed before. Each key has its shard, so
 * that they are found by the whole primary key, even if PostgreSQL knew nothing of the table when it made the plan.
 */
export function removeDenials(db: Database, denials: readonly OldDenial[]): Promise<number> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const removed = await tx.query({
      name: 'remove-denials',
      text: sql`delete from denial d
             using unnest($1::smallint[], $2::bigint[], $3::timestamptz[], $4::bigint[]) k (shard, user_id, at, number)
             where d.shard = k.shard ${shardFilter(tx, sql`d.shard`, sql`$1`)} and d.user_id = k.user_id and d.at = k.at and d.number = k.number
             returning 1`,
      values: [
        denials.map(({ shard }) => shard),
        denials.map(({ user_id }) => user_id),
        denials.map(({ at }) => timestampParam(at)),
        denials.map(({ number }) => number),
      ],
    })
    return removed.length
  })
}
