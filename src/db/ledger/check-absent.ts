import { sql } from '../connection/sql.ts'
import { RESERVATION_KEY, type ReservationKey } from './keys.ts'
import { ledgerStatement } from './statement.ts'

/** Fails if one of the reservations exists, though the decisions took its id to be new. */
export const checkAbsent = ledgerStatement<ReservationKey>(
  'check-absent',
  RESERVATION_KEY,
  ({ k }) => sql`select 1 / ((
      select count(*) from ${k}
      join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id
    ) = 0)::int`,
)
