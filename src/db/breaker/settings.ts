/** The one row of the breaker: see the migration `breaker`. */

import { requireKnown } from '../../domain/basics/unknown-value.ts'
import { BREAKER_MODES, type BreakerSettings, DEFAULT_BREAKER } from '../../domain/pauses/breaker-settings.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Queryable, Transaction } from '../connection/database.ts'
import { sql, sqlInteger, sqlName } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { PAUSE_SHARD } from '../pauses/pauses.ts'

const SHARD = sqlInteger(PAUSE_SHARD)

/** Users who sent watched messages lately, with feedback and without; of those without, the ones who sent most. */
export interface WatchedUsers {
  with_feedback: number
  without_feedback: number
  examples: { user_id: number; messages: number }[]
}

export interface BreakerRow {
  version: number
  settings: BreakerSettings
  /** Null: nothing was judged yet. */
  users: WatchedUsers | null
}

type Stored = Omit<BreakerRow, 'settings'> & { settings: BreakerSettings | null }

const ROW = sql`select version, settings, users from breaker where shard = ${SHARD}`

export async function readBreaker(db: Queryable): Promise<BreakerRow> {
  return rowOf(await db.query<Stored>({ name: 'read-breaker', text: ROW }))
}

/** Reads it, and lets one transaction at a time go on. */
export async function lockBreaker(tx: Transaction): Promise<BreakerRow> {
  return rowOf(await tx.query<Stored>({ text: sql`${ROW} for update` }))
}

function rowOf([row]: readonly Stored[]): BreakerRow {
  if (row === undefined) throw new Error('the breaker has no row')
  const settings = row.settings ?? DEFAULT_BREAKER
  requireKnown('the mode of the breaker', BREAKER_MODES, settings.mode)
  return { ...row, settings }
}

/** Writes settings. The row is locked. */
export async function writeBreaker(tx: Transaction, settings: BreakerSettings, version: number): Promise<void> {
  await tx.query({
    text: sql`update breaker set version = $1, settings = $2 where shard = ${SHARD}`,
    values: [version, JSON.stringify(settings)],
  })
}

/**
 * Takes the turn to judge: whether no process has judged within `everyMs` before `now`. A turn that lies ahead was taken by a clock that
 * was ahead, and counts for nothing.
 */
export async function takeTurn(
  db: Queryable,
  turn: 'judged_at' | 'hour_judged_at' | 'day_judged_at',
  now: EpochMs,
  everyMs: number,
): Promise<boolean> {
  const column = sqlName(turn)
  const taken = await db.query({
    text: sql`update breaker set ${column} = $1 where shard = ${SHARD} and (${column} is null or ${column} <= $2 or ${column} > $1)
           returning 1`,
    values: [timestampParam(now), timestampParam(now - everyMs)],
  })
  return taken.length > 0
}

export async function writeWatchedUsers(db: Queryable, users: WatchedUsers): Promise<void> {
  await db.query({
    text: sql`update breaker set users = $1 where shard = ${SHARD}`,
    values: [JSON.stringify(users)],
  })
}

/** Removes a user from the settings, and from what is recorded of them. */
export async function forgetUser(tx: Transaction, userId: number): Promise<void> {
  const without = (column: 'settings' | 'before' | 'after') => sql`jsonb_set(${sqlName(column)}, '{pass_users}',
    coalesce((select jsonb_agg(id) from jsonb_array_elements(${sqlName(column)} -> 'pass_users') id where id <> to_jsonb($1::bigint)), '[]'))`
  const names = (column: 'settings' | 'before' | 'after') =>
    sql`${sqlName(column)} -> 'pass_users' @> to_jsonb($1::bigint)`
  await tx.query({
    text: sql`update breaker set settings = ${without('settings')} where shard = ${SHARD} and ${names('settings')}`,
    values: [userId],
  })
  await tx.query({
    text: sql`update breaker_change set before = ${without('before')}, after = ${without('after')}
           where shard = ${SHARD} and (${names('before')} or ${names('after')})`,
    values: [userId],
  })
  await tx.query({
    text: sql`update breaker set users = null where shard = ${SHARD} and users -> 'examples' @> jsonb_build_array(jsonb_build_object('user_id', $1::bigint))`,
    values: [userId],
  })
}
