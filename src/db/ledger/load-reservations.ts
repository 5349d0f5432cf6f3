import type { Reservation } from '../../domain/reservation.ts'
import { bigints, texts } from './arrays.ts'
import { RESERVATION_LIST } from './reservation-rows.ts'
import { ledgerStatement } from './statement.ts'

/** Reservations by their keys, those that exist. */
export const loadReservations = ledgerStatement<Pick<Reservation, 'user_id' | 'id'>>(
  'load-reservations',
  { user_id: bigints(({ user_id }) => user_id), id: texts(({ id }) => id) },
  ({ shard, k }) => `select ${RESERVATION_LIST}
    from ${k}
    join reservation r on r.user_id = k.user_id and r.id = k.id where r.shard = ${shard}`,
)
