import { sql } from '../connection/sql.ts'
import { RESERVATION_KEY, type ReservationKey } from './keys.ts'
import { RESERVATION_LIST } from './reservation-rows.ts'
import { ledgerStatement } from './statement.ts'

/** Reservations by their keys, those that exist. */
export const loadReservations = ledgerStatement<ReservationKey>(
  'load-reservations',
  RESERVATION_KEY,
  ({ k }) => sql`select ${RESERVATION_LIST}
    from ${k}
    join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id`,
)
