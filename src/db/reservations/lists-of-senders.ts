/**
 * The reservations that one sender made, of all users: those that are open, unless another state is asked for. A sender may have
 * made millions and have settled all but a few, so the list follows the index of the sweeper, `reservation_expiry`, from where
 * every reservation is known to be closed: what it reads are reservations that have not expired, not all there are.
 */

import { SHARDS, type Shard, shardOf } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { ReservationState } from '../../domain/units/reservation.ts'
import type { Database, Queryable, SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { BY_KEYS_IN_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { RESERVATION_COLUMNS, type ReservationRow, reservationOf } from '../ledger/reservation-rows.ts'
import { allOf, cut, type Page, type Slice } from '../lists/pages.ts'
import { type ListedReservation, STATE_CONDITIONS } from './lists.ts'

export interface SenderFilter {
  /** The subject of the sender's token. */
  sender: string
  state: ReservationState
  /** Only reservations of these users. */
  users: ReadonlySet<number> | 'all'
  /** Only reservations made before this time. */
  before?: EpochMs
}

/**
 * A place in the list, which goes shard by shard, and in each by expiry. Where a page ends without a reservation of the sender, it
 * names none: the ones that were read belong to others.
 */
export interface SenderKey {
  shard: Shard
  expires_at: EpochMs
  /** The last one shown; null: all that expire at that time were read. */
  last: { user_id: number; id: string } | null
}

type SenderSlice = Slice<Omit<ListedReservation, 'made_by' | 'settled_by'>, SenderKey>

/** Reservations that a page reads, for those of the sender; a few more if several expire at the same time. */
export const MAX_SCANNED = 20_000

/** A page of a sender's reservations. */
export function listOfSender(db: Database, filter: SenderFilter, page: Page<SenderKey>): Promise<SenderSlice> {
  // One snapshot for all shards.
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS_IN_ORDER })
    const [principal] = await tx.query<{ id: number }>({
      name: 'find-principal',
      text: sql`select id from principal where subject = $1`,
      values: [filter.sender],
    })
    if (principal === undefined) return { items: [], next: null }
    const starts = await startsOf(tx, filter, page)
    return walk(tx, starts, values => whereClauseOf(filter, principal.id, values), page)
  }, 'snapshot')
}

/** The expiry up to which a list of open reservations need not look; `$2`: whether it is one, `$3`: now. */
const CLOSED_UNTIL = sql`case when $2 and w.closed_until <= $3 then w.closed_until else '-infinity' end`

/**
 * The shards with something to read, in the order of the list. A reservation that is open expires after the sweeper's watermark; one
 * that is later than now comes from a clock that was wrong, and says nothing.
 */
async function startsOf(
  tx: Queryable,
  { state, users }: SenderFilter,
  { after, now }: Page<SenderKey>,
): Promise<SenderKey[]> {
  const named = users === 'all' ? SHARDS : [...new Set([...users].map(shardOf))]
  const rows = await tx.query<{ shard: Shard; closed_until: EpochMs; first: EpochMs | null }>({
    text: sql`select w.shard, ${CLOSED_UNTIL} as closed_until, (
        select min(r.expires_at) from reservation r where r.shard = w.shard and r.expires_at > ${CLOSED_UNTIL}
      ) as first from sweeper_watermark w where w.shard = any($1::smallint[]) order by w.shard`,
    values: [
      named.filter(shard => after === undefined || shard >= after.shard),
      state === 'reserved',
      timestampParam(now),
    ],
  })
  return rows
    .filter(({ first }) => first !== null)
    .map(({ shard, closed_until }) => ({
      ...(after?.shard === shard ? after : { expires_at: closed_until, last: null }),
      shard,
    }))
}

/** Reads shard after shard, until the page is full or has read as much as a page may. */
async function walk(
  tx: Queryable,
  starts: readonly SenderKey[],
  selected: (values: SqlValue[]) => Sql,
  { size, maxScanned = MAX_SCANNED }: Page<SenderKey>,
): Promise<SenderSlice> {
  const found: Row[] = []
  let left = maxScanned
  for (const start of starts) {
    const rows = await readShard(tx, start, selected, { size: size - found.length, maxScanned: left })
    found.push(...rows.filter(({ is_selected }) => is_selected))
    const { items, next } = cut(found, size, keyOf)
    if (next !== null) return { items: items.map(itemOf), next }
    const end = rows.at(-1)
    left -= end?.place ?? 0
    if (end !== undefined && left <= 0)
      return { items: items.map(itemOf), next: { shard: start.shard, expires_at: end.expires_at, last: null } }
  }
  return { items: found.map(itemOf), next: null }
}

type Row = ReservationRow & {
  /** Its place among those that were read, from 1. */
  place: number
  is_selected: boolean
}

/** The selected reservations of a shard among the first ones, one more than asked for, and the last one that was read. */
function readShard(
  tx: Queryable,
  { shard, expires_at, last }: SenderKey,
  selected: (values: SqlValue[]) => Sql,
  { size, maxScanned }: { size: number; maxScanned: number },
): Promise<Row[]> {
  const values: SqlValue[] = []
  const range = [sql`shard = ${bind(values, shard)}`]
  const at = sql`${bind(values, timestampParam(expires_at))}::timestamptz`
  if (last === null) {
    range.push(sql`expires_at > ${at}`)
  } else {
    const key = [at, sql`${bind(values, last.user_id)}::bigint`, bind(values, last.id)]
    range.push(sql`expires_at >= ${at}`, sql`(expires_at, user_id, id) > (${joinSql(key)})`)
  }
  return tx.query<Row>({
    text: sql`select ${RESERVATION_COLUMNS}, place, is_selected from (
        select ${RESERVATION_COLUMNS}, row_number() over in_order as place, lead(false, 1, true) over in_order as is_last,
          ${selected(values)} as is_selected
        from (
          select ${RESERVATION_COLUMNS}, made_by from reservation where ${allOf(range)}
          order by expires_at fetch first (${bind(values, maxScanned)}::integer) rows with ties
        ) scanned window in_order as (order by expires_at, user_id, id)
      ) r where is_selected or is_last order by expires_at, user_id, id limit ${bind(values, size + 1)}`,
    values,
  })
}

function whereClauseOf({ state, users, before }: SenderFilter, principal: number, values: SqlValue[]): Sql {
  const conditions = [sql`coalesce(made_by = ${bind(values, principal)}, false)`, STATE_CONDITIONS[state]]
  if (users !== 'all') conditions.push(sql`user_id = any(${bind(values, [...users])}::bigint[])`)
  if (before !== undefined) conditions.push(sql`created_at < ${bind(values, timestampParam(before))}::timestamptz`)
  return allOf(conditions)
}

function keyOf({ user_id, id, expires_at }: Row): SenderKey {
  return { shard: shardOf(user_id), expires_at, last: { user_id, id } }
}

function itemOf({ place: _place, is_selected: _selected, ...row }: Row): SenderSlice['items'][number] {
  return reservationOf(row)
}
