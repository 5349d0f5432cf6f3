import type { Reservation } from '../../domain/reservation.ts'
import { bigints, booleans, ints, texts } from './arrays.ts'
import type { Stored } from './rows.ts'
import { guardedUpdate, NOW } from './statement.ts'

/** Writes what became of reservations' units. The rest of a reservation never changes. */
export const settleReservations = guardedUpdate<Stored<Reservation>>(
  'settle-reservations',
  {
    user_id: bigints(reservation => reservation.user_id),
    id: texts(reservation => reservation.id),
    seq: ints(reservation => reservation.seq),
    committed: bigints(reservation => reservation.committed),
    released: bigints(reservation => reservation.released),
    refunded: bigints(reservation => reservation.refunded),
    expired: booleans(reservation => reservation.expired),
  },
  ({ shard, k, bind }) => `update reservation r set committed = k.committed, released = k.released,
      refunded = k.refunded, expired = k.expired, seq = r.seq + 1, changed_at = ${bind(NOW)}::timestamptz
    from ${k}
    where r.shard = ${shard} and r.user_id = k.user_id and r.id = k.id and r.seq = k.seq`,
)
