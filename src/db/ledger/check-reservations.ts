import type { Reservation } from '../../domain/reservation.ts'
import { sql } from '../connection/sql.ts'
import { ints } from './arrays.ts'
import { RESERVATION_KEY } from './keys.ts'
import type { Stored } from './rows.ts'
import { COUNT, ledgerStatement } from './statement.ts'

/** Fails unless reservations that the decisions read and did not change are as they were read. */
export const checkReservations = ledgerStatement<Stored<Reservation>>(
  'check-reservations',
  { ...RESERVATION_KEY, seq: ints(reservation => reservation.seq) },
  ({ k, bind }) => sql`select 1 / ((
      select count(*) from ${k}
      join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id and r.seq = k.seq
    ) = ${bind(COUNT)}::int)::int`,
)
