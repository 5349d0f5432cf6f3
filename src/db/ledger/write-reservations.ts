import type { RecordedAction } from '../../domain/units/authorship.ts'
import type { Reservation } from '../../domain/units/reservation.ts'
import { sql } from '../connection/sql.ts'
import {
  bigintLists,
  bigints,
  ints,
  texts,
  timestamps,
  usually,
  usuallyFalse,
  usuallyNull,
  usuallyZero,
} from './arrays.ts'
import { RESERVATION_KEY, type ReservationKey, USER_SHARD } from './keys.ts'
import { type Authors, writeDrawKeys, writeDraws, writePrice } from './reservation-rows.ts'
import type { Stored } from './rows.ts'
import { guardedUpdate, ledgerStatement, NOW } from './statement.ts'

/**
 * Adds reservations. One whose id another process has added meanwhile violates the key and ends the transaction.
 * A message that is asked for as usual sends fifteen of the twenty-four columns as empty arrays.
 */
export const addReservations = ledgerStatement<Stored<Reservation & Authors>>(
  'add-reservations',
  {
    ...RESERVATION_KEY,
    seq: ints(reservation => reservation.seq),
    op: usually(
      sql`'reserve'`,
      ({ op }) => op === 'reserve',
      texts(({ op }) => op),
    ),
    asked: usually(
      sql`k.units`,
      ({ asked, units }) => asked === units,
      bigints(({ asked }) => asked),
    ),
    country: usuallyNull(texts, reservation => reservation.country),
    message_type: usuallyNull(texts, reservation => reservation.message_type),
    allow_partial: usuallyFalse(reservation => reservation.allow_partial),
    force: usuallyFalse(reservation => reservation.force),
    would_deny: usuallyNull(texts, reservation => reservation.would_deny),
    units: bigints(reservation => reservation.units),
    messages: usuallyNull(ints, reservation => reservation.messages ?? null),
    price: usuallyNull(texts, ({ price }) => (price === undefined ? null : writePrice(price))),
    committed: usuallyZero(reservation => reservation.committed),
    released: usuallyZero(reservation => reservation.released),
    refunded: usuallyZero(reservation => reservation.refunded),
    on_expiry: usually(
      sql`'release'`,
      reservation => reservation.on_expiry === 'release',
      texts(reservation => reservation.on_expiry),
    ),
    expired: usuallyFalse(reservation => reservation.expired),
    verified: usuallyFalse(reservation => reservation.verified),
    draws: bigintLists(reservation => writeDraws(reservation.draws)),
    draw_keys: usuallyNull(bigintLists, reservation => writeDrawKeys(reservation.draws)),
    expires_at: timestamps(reservation => reservation.expires_at),
    made_by: ints(reservation => reservation.made_by),
    settled_by: usuallyNull(ints, reservation => reservation.settled_by),
  },
  ({ names, values, rows, bind }) => sql`insert into reservation (${names}, created_at, changed_at)
    select ${values}, ${bind(NOW)}::timestamptz, ${bind(NOW)}::timestamptz from ${rows}`,
)

/**
 * Writes what became of reservations' units, who did it and when, and whether the code was entered. An expiry has no author. Feedback
 * has neither author nor time. The rest of a reservation changes only when it is made larger.
 */
export const settleReservations = guardedUpdate<Stored<Reservation> & Pick<Authors, 'settled_by'>>(
  'settle-reservations',
  {
    ...RESERVATION_KEY,
    seq: ints(reservation => reservation.seq),
    committed: bigints(reservation => reservation.committed),
    released: usuallyZero(reservation => reservation.released),
    refunded: usuallyZero(reservation => reservation.refunded),
    expired: usuallyFalse(reservation => reservation.expired),
    verified: usuallyFalse(reservation => reservation.verified),
    settled_by: ints(reservation => reservation.settled_by),
  },
  ({ k, bind }) => sql`update reservation r set committed = k.committed, released = k.released,
      refunded = k.refunded, expired = k.expired, verified = k.verified,
      settled_by = coalesce(k.settled_by, r.settled_by), seq = r.seq + 1,
      changed_at = case when r.committed = k.committed and r.released = k.released and r.refunded = k.refunded
        then r.changed_at else ${bind(NOW)}::timestamptz end
    from ${k}
    where r.shard = k.shard and r.user_id = k.user_id and r.id = k.id and r.seq = k.seq`,
)

/**
 * Writes the units and the draws of reservations that a forced commit makes larger, before what became of them is written: the check of the
 * table then sees units that are there. Rare, as below.
 */
export const extendReservations = guardedUpdate<Stored<Reservation>>(
  'extend-reservations',
  {
    ...RESERVATION_KEY,
    seq: ints(reservation => reservation.seq),
    units: bigints(reservation => reservation.units),
    draws: bigintLists(reservation => writeDraws(reservation.draws)),
    draw_keys: usuallyNull(bigintLists, reservation => writeDrawKeys(reservation.draws)),
  },
  ({ k }) => sql`update reservation r set units = k.units, draws = k.draws::bigint[], draw_keys = k.draw_keys::bigint[]
    from ${k}
    where r.shard = k.shard and r.user_id = k.user_id and r.id = k.id and r.seq = k.seq`,
)

/**
 * Marks reservations whose released units a forced commit took again: `verify` then knows why a window may be past its
 * limit. A statement of its own, because it is rare: settlements and new reservations pay nothing for it. It runs behind
 * those, in whose rows the transaction holds the locks.
 */
export const markRetaken = guardedUpdate<ReservationKey>(
  'mark-retaken',
  RESERVATION_KEY,
  ({ k }) => sql`update reservation r set retaken = true
    from ${k}
    where r.shard = k.shard and r.user_id = k.user_id and r.id = k.id`,
)

/** A forced booking or a refund, as it is stored. */
export interface ReservationAction extends ReservationKey {
  readonly action: RecordedAction
  readonly total_units: number
  /** The id of the principal in the dictionary; null if it is not there. */
  readonly principal: number | null
  readonly request_id: string
}

/**
 * Records actions. One with the same key is of an earlier reservation with this id, which a version that does not know of
 * actions has removed: it is replaced.
 */
export const addActions = ledgerStatement<ReservationAction>(
  'add-actions',
  {
    ...USER_SHARD,
    user_id: bigints(row => row.user_id),
    reservation_id: texts(row => row.id),
    action: texts(row => row.action),
    total_units: bigints(row => row.total_units),
    principal: ints(row => row.principal),
    request_id: texts(row => row.request_id),
  },
  ({ names, values, rows, bind }) => sql`insert into reservation_action (${names}, at)
    select ${values}, ${bind(NOW)}::timestamptz from ${rows}
    on conflict (shard, user_id, reservation_id, action, total_units)
    do update set at = excluded.at, principal = excluded.principal, request_id = excluded.request_id`,
)
