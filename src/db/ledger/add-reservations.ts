import type { Reservation } from '../../domain/reservation.ts'
import { sql } from '../connection/sql.ts'
import { bigintLists, bigints, booleans, ints, texts, timestamps } from './arrays.ts'
import { RESERVATION_KEY } from './keys.ts'
import { type Authors, writeDraws } from './reservation-rows.ts'
import type { Stored } from './rows.ts'
import { ledgerStatement, NOW } from './statement.ts'

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
