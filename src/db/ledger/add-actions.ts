import type { RecordedAction } from '../../domain/authorship.ts'
import { sql } from '../connection/sql.ts'
import { bigints, ints, texts } from './arrays.ts'
import { type ReservationKey, USER_SHARD } from './keys.ts'
import { ledgerStatement, NOW } from './statement.ts'

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
