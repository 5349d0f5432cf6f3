import { MAX_SCANNED_RESERVATIONS } from '../../domain/basics/bounds.ts'
import { shardOf } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Authorship } from '../../domain/units/authorship.ts'
import type { Reservation, ReservationState } from '../../domain/units/reservation.ts'
import type { Database, Queryable, SqlValue } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { AUTHORSHIP } from '../ledger/load-authorship.ts'
import { RESERVATION_COLUMNS, type ReservationRow, reservationOf } from '../ledger/reservation-rows.ts'
import { allOf, type Page, readPage, type Slice } from '../lists/pages.ts'

/** The filter of a list; `from` is included, `to` is not. */
export interface ReservationFilter {
  user_id?: number
  state?: ReservationState
  quota_id?: number
  country?: string
  message_type?: string
  /** The subject of the sender that made it. */
  sender?: string
  from?: EpochMs
  to?: EpochMs
}

/** The reservation after which the next page begins. */
export interface ReservationKey {
  at: EpochMs
  user_id: number
  id: string
}

/** A reservation with the senders that made and settled it. */
export type ListedReservation = Reservation & Pick<Authorship, 'made_by' | 'settled_by'>

/** A reservation with who made and settled it, and when it was last changed. */
export type DetailedReservation = Reservation & Authorship & { changed_at: EpochMs }

type Row = ReservationRow & Pick<Authorship, 'made_by' | 'settled_by'>

/**
 * The expression that each index orders by: `reservation_of_user` for one user, `reservation_by_time` for all. Both hold
 * an expression, so that the planner cannot take either for another statement. It took the index of all users for the
 * page of a user who has most reservations, and scanned all in vain if theirs were old; and it took the index of one user
 * to look up reservations by id.
 */
const timeOf = ({ user_id }: ReservationFilter) => (user_id === undefined ? inUtc(sql`created_at`) : sql`created_at`)
const inUtc = (timestamp: Sql) => sql`(${timestamp} at time zone 'UTC')`

const newestFirst = (filter: ReservationFilter) => sql`${timeOf(filter)} desc, user_id desc, id desc`

/** A page of reservations, newest first. */
export async function listReservations(
  db: Database,
  filter: ReservationFilter,
  { after, size, maxScanned = MAX_SCANNED_RESERVATIONS }: Page<ReservationKey>,
): Promise<Slice<ListedReservation, ReservationKey>> {
  const [values, keys]: [SqlValue[], SqlValue[]] = [[], []]
  const among = rangeOf(filter, after, values)
  const selected = whereClauseOf(filter, values)
  const text = sql`select ${RESERVATION_COLUMNS}, ${subjectOf(sql`made_by`)}, ${subjectOf(sql`settled_by`)} from (
      select ${RESERVATION_COLUMNS}, made_by, settled_by, ${timeOf(filter)} as made from reservation where ${among} order by ${newestFirst(filter)}
      limit ${bind(values, maxScanned)}
    ) r where ${selected} order by made desc, user_id desc, id desc limit ${bind(values, size + 1)}`
  const end = sql`select created_at, user_id, id from reservation where ${rangeOf(filter, after, keys)} order by ${newestFirst(filter)}
           offset ${bind(keys, maxScanned - 1)} limit 2`
  const { items, next } = await readPage(db, size, {
    page: { text, values },
    keyOf: ({ created_at: at, user_id, id }: Row) => ({ at, user_id, id }),
    end: { text: end, values: keys },
  })
  return { items: items.map(reservationOf), next }
}

/** The subject of a principal, after the page is cut. */
const subjectOf = (column: Sql) => sql`(select subject from principal where id = r.${column}) as ${column}`

/** A reservation with all that is known of its authors; undefined if there is none. */
export async function findReservation(
  db: Queryable,
  userId: number,
  id: string,
): Promise<DetailedReservation | undefined> {
  const [row] = await db.query<ReservationRow & Authorship & { changed_at: EpochMs }>({
    name: 'find-reservation',
    text: sql`select ${RESERVATION_COLUMNS}, changed_at, ${AUTHORSHIP} from reservation r
      where shard = $1 and user_id = $2 and id = $3`,
    values: [shardOf(userId), userId, id],
  })
  return row && reservationOf(row)
}

/** The conditions that an index bounds: the user, the time, and the cursor. */
function rangeOf(filter: ReservationFilter, after: ReservationKey | undefined, values: SqlValue[]): Sql {
  const { user_id, from, to } = filter
  const conditions: Sql[] = []
  const bound = (comparison: Sql, at: EpochMs) => {
    const timestamp = sql`${bind(values, timestampParam(at))}::timestamptz`
    conditions.push(sql`${timeOf(filter)} ${comparison} ${user_id === undefined ? inUtc(timestamp) : timestamp}`)
  }
  if (user_id !== undefined)
    conditions.push(sql`shard = ${bind(values, shardOf(user_id))}`, sql`-user_id = -${bind(values, user_id)}::bigint`)
  if (from !== undefined) bound(sql`>=`, from)
  // A cursor lies before `to`, so `to` is left out: of two bounds PostgreSQL may begin at the farther one.
  if (after !== undefined) {
    bound(sql`<=`, after.at)
    const key = [timestampParam(after.at), after.user_id, after.id].map(value => bind(values, value))
    conditions.push(sql`(created_at, user_id, id) < (${joinSql(key)})`)
  } else if (to !== undefined) {
    bound(sql`<`, to)
  }
  return allOf(conditions)
}

/** The conditions that are read from the rows. */
function whereClauseOf(filter: ReservationFilter, values: SqlValue[]): Sql {
  const { from: _from, to: _to, user_id: _user, state, quota_id, country, message_type, sender, ...none } = filter
  none satisfies Record<string, never>
  const conditions: Sql[] = []
  if (state !== undefined) conditions.push(STATE_CONDITIONS[state])
  if (quota_id !== undefined) {
    // Six numbers a draw, the first of which is the quota's id. Any other may be the same number, hence both
    // conditions.
    const id = bind(values, quota_id)
    conditions.push(
      sql`draws @> array[${id}::bigint]`,
      sql`exists (select 1 from generate_series(1, cardinality(draws), 6) i where draws[i] = ${id})`,
    )
  }
  if (country !== undefined) conditions.push(sql`country = ${bind(values, country)}`)
  if (message_type !== undefined) conditions.push(sql`message_type = ${bind(values, message_type)}`)
  if (sender !== undefined)
    conditions.push(sql`made_by = (select id from principal where subject = ${bind(values, sender)})`)
  return allOf(conditions)
}

const settled = sql`committed + released = units`

/** `stateOf` a reservation, in SQL. */
export const STATE_CONDITIONS: Record<ReservationState, Sql> = {
  reserved: sql`committed + released < units`,
  committed: sql`${settled} and committed > refunded`,
  refunded: sql`${settled} and committed > 0 and committed = refunded`,
  expired: sql`${settled} and committed = 0 and expired`,
  released: sql`${settled} and committed = 0 and not expired`,
}
