import type { RecordedAction } from '../../domain/authorship.ts'
import type { Reservation } from '../../domain/reservation.ts'
import { sql } from '../connection/sql.ts'
import { bigintLists, bigints, booleans, ints, texts, timestamps } from './arrays.ts'
import { RESERVATION_KEY, type ReservationKey, USER_SHARD } from './keys.ts'
import { type Authors, writeDraws } from './reservation-rows.ts'
import type { Stored } from './rows.ts'
import { guardedUpdate, ledgerStatement, NOW } from './statement.ts'

/**
 * Adds reservations. One whose id another process has added meanwhile violates the key and ends the transaction.
 *
 * `values (unnest(…), …)` is a third less work for PostgreSQL than `select … from unnest(…, …)`, which keeps a tuple store
 * for each array.
 */
export const addReservations = ledgerStatement<Stored<Reservation & Authors>>(
  'add-reservations',
  {
    ...RESERVATION_KEY,
    seq: ints(reservation => reservation.seq),
    op: texts(reservation => reservation.op),
    asked: bigints(reservation => reservation.asked),
    country: texts(reservation => reservation.country),
    message_type: texts(reservation => reservation.message_type),
    allow_partial: booleans(reservation => reservation.allow_partial),
    force: booleans(reservation => reservation.force),
    would_deny: texts(reservation => reservation.would_deny),
    units: bigints(reservation => reservation.units),
    committed: bigints(reservation => reservation.committed),
    released: bigints(reservation => reservation.released),
    refunded: bigints(reservation => reservation.refunded),
    on_expiry: texts(reservation => reservation.on_expiry),
    expired: booleans(reservation => reservation.expired),
    draws: bigintLists(reservation => writeDraws(reservation.draws)),
    expires_at: timestamps(reservation => reservation.expires_at),
    made_by: ints(reservation => reservation.made_by),
    settled_by: ints(reservation => reservation.settled_by),
  },
  ({ names, unnested, bind }) => sql`insert into reservation (${names}, created_at, changed_at)
    values (${unnested}, ${bind(NOW)}::timestamptz, ${bind(NOW)}::timestamptz)`,
)

/** Writes what became of reservations' units, and who did it; an expiry has no author. The rest of a reservation never changes. */
export const settleReservations = guardedUpdate<Stored<Reservation> & Pick<Authors, 'settled_by'>>(
  'settle-reservations',
  {
    ...RESERVATION_KEY,
    seq: ints(reservation => reservation.seq),
    committed: bigints(reservation => reservation.committed),
    released: bigints(reservation => reservation.released),
    refunded: bigints(reservation => reservation.refunded),
    expired: booleans(reservation => reservation.expired),
    settled_by: ints(reservation => reservation.settled_by),
  },
  ({ k, bind }) => sql`update reservation r set committed = k.committed, released = k.released,
      refunded = k.refunded, expired = k.expired, settled_by = coalesce(k.settled_by, r.settled_by), seq = r.seq + 1,
      changed_at = ${bind(NOW)}::timestamptz
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
  ({ names, unnested, bind }) => sql`insert into reservation_action (${names}, at)
    values (${unnested}, ${bind(NOW)}::timestamptz)
    on conflict (shard, user_id, reservation_id, action, total_units)
    do update set at = excluded.at, principal = excluded.principal, request_id = excluded.request_id`,
)
