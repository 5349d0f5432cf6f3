import { sql } from '../connection/sql.ts'
import { RESERVATION_KEY, type ReservationKey } from './keys.ts'
import { guardedUpdate } from './statement.ts'

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
