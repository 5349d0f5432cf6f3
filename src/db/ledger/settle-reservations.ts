import type { Reservation } from '../../domain/reservation.ts'
import { sql } from '../connection/sql.ts'
import { bigints, booleans, ints } from './arrays.ts'
import { RESERVATION_KEY } from './keys.ts'
import type { Authors } from './reservation-rows.ts'
import type { Stored } from './rows.ts'
import { guardedUpdate, NOW } from './statement.ts'

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
