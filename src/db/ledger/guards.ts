import type { Allowance } from '../../domain/quotas/quota.ts'
import type { Reservation } from '../../domain/units/reservation.ts'
import { sql } from '../connection/sql.ts'
import { bigints, ints } from './arrays.ts'
import { QUOTA_KEY, RESERVATION_KEY, type ReservationKey } from './keys.ts'
import type { Stored } from './rows.ts'
import { COUNT, ledgerStatement } from './statement.ts'

/** Fails if one of the reservations exists, though the decisions took its id to be new. */
export const checkAbsent = ledgerStatement<ReservationKey>(
  'check-absent',
  RESERVATION_KEY,
  ({ k }) => sql`select 1 / ((
      select count(*) from ${k}
      join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id
    ) = 0)::int`,
)

/** Fails unless quotas that the decisions read and did not change are as they were read. */
export const checkQuotas = ledgerStatement<Stored<Allowance>>(
  'check-quotas',
  { ...QUOTA_KEY, seq: bigints(quota => quota.seq) },
  ({ k, bind }) => sql`select 1 / ((
      select count(*) from ${k}
      join quota q on q.shard = k.shard and q.id = k.id and q.seq = k.seq
    ) = ${bind(COUNT)}::int)::int`,
)

/** Fails unless reservations that the decisions read and did not change are as they were read. */
export const checkReservations = ledgerStatement<Stored<Reservation>>(
  'check-reservations',
  { ...RESERVATION_KEY, seq: ints(reservation => reservation.seq) },
  ({ k, bind }) => sql`select 1 / ((
      select count(*) from ${k}
      join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id and r.seq = k.seq
    ) = ${bind(COUNT)}::int)::int`,
)
