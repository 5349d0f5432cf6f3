/** Searches over all users, each by an index of its own and for a bounded number of hits. */
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { SHARDS } from '../../domain/basics/shard.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Reservation } from '../../domain/units/reservation.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Database, SqlValue, Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { RESERVATION_COLUMNS, type ReservationRow, reservationOf } from '../ledger/reservation-rows.ts'
import { QUOTA_COLUMNS } from '../quotas/quotas.ts'
import { beginningWith, orderBy } from '../quotas/streams.ts'
import { findUsersIn, type IdRange, type ListedUser } from './users.ts'

/** The finds of a search, of each kind: `size` at most of those there are. */
export interface Found {
  /** Users whose id, reference or name begins with the text: first by id, then by reference, then by name. */
  users: ListedUser[]
  /**
   * Quotas whose id, reference or name begins with the text; exact matches first. Deleted ones are found by their id
   * only.
   */
  quotas: Quota[]
  /** Reservations whose id begins with the text, by id. */
  reservations: Reservation[]
}

/** Finds what begins with a text of 1 to 128 characters. */
export function search(db: Database, text: string, size: number, now: EpochMs): Promise<Found> {
  const ranges = idRangesOf(text)
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    return {
      users: await findUsers(tx, text, ranges, size, now),
      quotas: await findQuotas(tx, text, ranges, size),
      reservations: await findReservations(tx, text, size),
    }
  }, 'snapshot')
}

/**
 * The ranges of ids whose digits begin with those of the text: for 12 these are 12, 120 to 129, 1200 to 1299 and so on.
 * None if the text cannot begin an id.
 */
export function idRangesOf(text: string): IdRange[] {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return []
  const ranges: IdRange[] = []
  for (let low = Number(text), count = 1; low <= MAX_INTEGER; low *= 10, count *= 10) {
    ranges.push({ low, high: Math.min(low + count - 1, MAX_INTEGER) })
    if (low === 0) break
  }
  return ranges
}

/** At most three times the hits that are shown, each by an index whose order it reads. */
export async function findUsers(
  tx: Transaction,
  text: string,
  ranges: readonly IdRange[],
  size: number,
  now: EpochMs,
): Promise<ListedUser[]> {
  const byId = ranges.length === 0 ? [] : await findUsersIn(tx, ranges, size, now)
  const named = [...(await usersByRef(tx, text, size)), ...(await usersByName(tx, text, size))]
  const ids = [...new Set(named)].filter(id => !byId.some(({ user_id }) => user_id === id)).slice(0, size - byId.length)
  if (ids.length === 0) return byId
  const found = await findUsersIn(
    tx,
    ids.map(id => ({ low: id, high: id })),
    ids.length,
    now,
  )
  const users = new Map(found.map(user => [user.user_id, user]))
  return [...byId, ...ids.flatMap(id => users.get(id) ?? [])]
}

/** Asks the key in each shard, and takes the first of what they find. */
async function usersByRef(tx: Transaction, text: string, size: number): Promise<number[]> {
  const found = await runPerCitusShard(
    tx,
    SHARDS,
    shard => shard,
    shards =>
      tx.query<{ ref: string; user_id: number }>({
        name: 'search-users-by-ref',
        text: sql`select key.ref, key.user_id from unnest($1::smallint[]) s (shard) cross join lateral (
                 select r.ref, r.user_id from user_ref r
                 where r.shard = s.shard ${shardFilter(tx, sql`r.shard`, sql`$1`)} and r.user_id is not null
                   and r.ref >= $2::text and r.ref < $2::text || chr(1114111)
                 order by r.ref limit $3
               ) key order by key.ref limit $3`,
        values: [shards, text, size],
      }),
  )
  return found
    .sort((one, other) => (one.ref < other.ref ? -1 : 1))
    .slice(0, size)
    .map(({ user_id }) => user_id)
}

async function usersByName(tx: Transaction, text: string, size: number): Promise<number[]> {
  const found = await tx.query<{ user_id: number }>({
    name: 'search-users-by-name',
    text: sql`select user_id from user_profile
           where name is not null and lower(name) collate "C" >= lower($1::text)
             and lower(name) collate "C" < lower($1::text) || chr(1114111)
           order by lower(name) collate "C", shard, user_id limit $2`,
    values: [text, size],
  })
  return found.map(({ user_id }) => user_id)
}

/** Each search has an index whose order it reads; together they are at most four times the hits that are shown. */
async function findQuotas(tx: Transaction, text: string, ranges: readonly IdRange[], size: number): Promise<Quota[]> {
  const found = [
    ...(await byId(tx, ranges, size, 'live')),
    ...(await byId(tx, ranges, size, 'deleted')),
    ...(await byText(tx, 'external_ref', text, size)),
    ...(await byText(tx, 'name', text, size)),
  ]
  const isExact = ({ id, external_ref, name }: Quota) =>
    String(id) === text || external_ref === text || name?.toLowerCase() === text.toLowerCase()
  const unique = [...new Map(found.map(quota => [quota.id, quota])).values()]
  return [...unique.filter(isExact), ...unique.filter(quota => !isExact(quota))].slice(0, size)
}

async function byId(
  tx: Transaction,
  ranges: readonly IdRange[],
  size: number,
  which: 'live' | 'deleted',
): Promise<Quota[]> {
  if (ranges.length === 0) return []
  const presence = which === 'live' ? sql`deleted_at is null` : sql`deleted_at is not null`
  if (!tx.isCluster) {
    return tx.query<Quota>({
      name: `search-${which}-quotas-by-id`,
      text: sql`select found.* from unnest($1::bigint[], $2::bigint[]) range (low, high) cross join lateral (
               select ${QUOTA_COLUMNS} from quota where id between range.low and range.high and ${presence} order by id limit $3
             ) found order by found.id limit $3`,
      values: [ranges.map(({ low }) => low), ranges.map(({ high }) => high), size],
    })
  }
  // A cluster refuses lateral joins with a limit.
  const values: SqlValue[] = [size]
  const within = ranges.map(({ low, high }) => {
    const range = sql`id between ${bind(values, low)}::bigint and ${bind(values, high)}::bigint`
    return sql`(select ${QUOTA_COLUMNS} from quota
      where ${range} and ${presence} order by id limit $1)`
  })
  const text = sql`select * from (${joinSql(within, sql` union all `)}) found order by id limit $1`
  return tx.query<Quota>({ text, values })
}

/** Finds quotas by the indexes of the lists over all users, which hold no deleted ones. */
function byText(tx: Transaction, by: 'external_ref' | 'name', text: string, size: number): Promise<Quota[]> {
  return tx.query<Quota>({
    name: `search-quotas-by-${by}`,
    text: sql`select ${QUOTA_COLUMNS} from (${beginningWith(by, sql`$1::text`, sql`$2`)}) s
           where ${sqlName(by)} is not null order by ${orderBy(by, false)}`,
    values: [text, size],
  })
}

/**
 * Asks the key of the ledger in each shard, and takes the first of what they find. Only keys are read there: ids that begin with the same
 * text may be thousands.
 */
async function findReservations(tx: Transaction, id: string, size: number): Promise<Reservation[]> {
  const found = await runPerCitusShard(
    tx,
    SHARDS,
    shard => shard,
    shards =>
      tx.query<ReservationRow>({
        name: 'search-reservations',
        // No character lies behind U+10FFFF.
        text: sql`select ${RESERVATION_COLUMNS} from (
                 select key.* from unnest($1::smallint[]) s (shard) cross join lateral (
                   select k.shard, k.id, k.user_id from reservation k
                   where k.shard = s.shard ${shardFilter(tx, sql`k.shard`, sql`$1`)}
                     and k.id >= $2::text and k.id < $2::text || chr(1114111)
                   order by k.id, k.user_id limit $3
                 ) key order by key.id, key.user_id limit $3
               ) found join reservation r using (shard, id, user_id)
               where true ${shardFilter(tx, sql`r.shard`, sql`$1`)} order by id, user_id`,
        values: [shards, id, size],
      }),
  )
  return found
    .map(reservationOf)
    .sort((one, other) => (one.id === other.id ? one.user_id - other.user_id : one.id < other.id ? -1 : 1))
    .slice(0, size)
}
