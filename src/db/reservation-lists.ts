import type { Reservation, ReservationState } from '../domain/reservation.ts'
import { shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { type Database, type Queryable, type SqlValue, timestampParam } from './database.ts'
import { drawsOf, RESERVATION_COLUMNS } from './ledger/reservation-rows.ts'
import { IN_INDEX_ORDER } from './planner-settings.ts'
import type { Slice } from './quota-history.ts'

/** Which reservations people look for; made at `from` or later, and before `to`. */
export interface ReservationFilter {
  userId?: number
  state?: ReservationState
  quotaId?: number
  from?: EpochMs
  to?: EpochMs
}

/** Where the next page begins: behind this reservation. */
export interface ReservationKey {
  at: EpochMs
  user_id: number
  id: string
}

export interface ReservationSlice {
  reservations: Reservation[]
  /** Null on the last page. Beside fewer reservations than were asked for: there may be more, further on. */
  next: ReservationKey | null
}

/**
 * How many reservations a page looks at, at most, for those that its filters select: what is rare among millions is
 * found in several steps, none of which keeps the database busy for long.
 */
export const MAX_LOOKED_AT = 20_000

type Row = Omit<Reservation, 'draws'> & { draws: number[] }

/**
 * What each index orders by. Both indexes hold an expression (that of one user in `rangeOf`), so that the planner cannot
 * take one where it is not meant: it would take everybody's for a user who has most of them, and go through all in vain
 * if theirs are old; and that of one user where reservations are looked up by their ids.
 */
const timeOf = ({ userId }: ReservationFilter) => (userId === undefined ? inUtc('created_at') : 'created_at')
const inUtc = (moment: string) => `(${moment} at time zone 'UTC')`

const newestFirst = (filter: ReservationFilter) => `${timeOf(filter)} desc, user_id desc, id desc`

/** Selects reservations, newest first; of one user by one index of theirs, of all users by time. */
export function listReservations(
  db: Database,
  filter: ReservationFilter,
  after: ReservationKey | undefined,
  size: number,
  mostLookedAt = MAX_LOOKED_AT,
): Promise<ReservationSlice> {
  const values: SqlValue[] = []
  const among = rangeOf(filter, after, values)
  const selected = selectionOf(filter, values)
  const columns = RESERVATION_COLUMNS.join(', ')
  const page = `select ${columns} from (
      select ${columns}, ${timeOf(filter)} as made from reservation where ${among} order by ${newestFirst(filter)}
      limit ${bind(values, mostLookedAt)}
    ) r where ${selected} order by made desc, user_id desc, id desc limit ${bind(values, size + 1)}`

  // One snapshot: what the page looked at is what the next page begins behind.
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    const found = sliceOf(await tx.query<Row>({ text: page, values }), size)
    const last = found.items.at(-1)
    if (found.hasMore && last !== undefined) return { reservations: found.items, next: keyOf(last) }
    const end = await endOfLook(tx, filter, after, mostLookedAt)
    return { reservations: found.items, next: end }
  }, 'snapshot')
}

/** The last reservation that a page looked at, if there are more behind. */
async function endOfLook(
  tx: Queryable,
  filter: ReservationFilter,
  after: ReservationKey | undefined,
  mostLookedAt: number,
): Promise<ReservationKey | null> {
  const values: SqlValue[] = []
  const among = rangeOf(filter, after, values)
  const ends = await tx.query<ReservationKey>({
    text: `select created_at as at, user_id, id from reservation where ${among} order by ${newestFirst(filter)}
           offset ${bind(values, mostLookedAt - 1)} limit 2`,
    values,
  })
  return ends.length === 2 ? (ends[0] ?? null) : null
}

function sliceOf(rows: readonly Row[], size: number): Slice<Reservation> {
  const items = rows.slice(0, size).map(row => ({ ...row, draws: drawsOf(row.draws) }))
  return { items, hasMore: rows.length > size }
}

function keyOf({ created_at: at, user_id, id }: Reservation): ReservationKey {
  return { at, user_id, id }
}

/** What an index bounds: whose, when made, and behind which. */
function rangeOf(filter: ReservationFilter, after: ReservationKey | undefined, values: SqlValue[]): string {
  const { userId, from, to } = filter
  const conditions: string[] = []
  const bound = (comparison: string, at: EpochMs) => {
    const moment = `${bind(values, timestampParam(at))}::timestamptz`
    conditions.push(`${timeOf(filter)} ${comparison} ${userId === undefined ? inUtc(moment) : moment}`)
  }
  if (userId !== undefined)
    conditions.push(`shard = ${bind(values, shardOf(userId))}`, `-user_id = -${bind(values, userId)}::bigint`)
  if (from !== undefined) bound('>=', from)
  // A cursor is never behind `to`, and of two bounds the index might begin at the farther one.
  if (after !== undefined) {
    bound('<=', after.at)
    const key = [timestampParam(after.at), after.user_id, after.id].map(value => bind(values, value))
    conditions.push(`(created_at, user_id, id) < (${key.join(', ')})`)
  } else if (to !== undefined) {
    bound('<', to)
  }
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}

/** What has to be looked up in the rows. */
function selectionOf({ state, quotaId }: ReservationFilter, values: SqlValue[]): string {
  const conditions: string[] = []
  if (state !== undefined) conditions.push(STATES[state])
  if (quotaId !== undefined) {
    // Six numbers a draw, the first of which is the quota; any of them may be the same number, hence both.
    const id = bind(values, quotaId)
    conditions.push(
      `draws @> array[${id}::bigint]`,
      `exists (select 1 from generate_series(1, cardinality(draws), 6) i where draws[i] = ${id})`,
    )
  }
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}

const settled = 'committed + released = units'

/** `stateOf` a reservation, in SQL. */
const STATES: Record<ReservationState, string> = {
  reserved: 'committed + released < units',
  committed: `${settled} and committed > refunded`,
  refunded: `${settled} and committed > 0 and committed = refunded`,
  expired: `${settled} and committed = 0 and expired`,
  released: `${settled} and committed = 0 and not expired`,
}

/** Adds a parameter and names it. */
function bind(values: SqlValue[], value: SqlValue): string {
  values.push(value)
  return `$${values.length}`
}
