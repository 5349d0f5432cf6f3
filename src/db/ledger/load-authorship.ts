import type { AuthoredAction, Authorship } from '../../domain/units/authorship.ts'
import type { StatementResult } from '../connection/pipelined-connection.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { RESERVATION_KEY, type ReservationKey } from './keys.ts'
import { number, selectListOf, text, textOrNull } from './rows.ts'
import { ledgerStatement } from './statement.ts'

/** The most actions that are shown of a reservation: the last ones. */
const MAX_ACTIONS = 100

const COLUMNS = { user_id: number, id: text, made_by: textOrNull, settled_by: textOrNull, actions: text }

const { list, at: AT } = selectListOf(COLUMNS, sql`a`)

const subjectOf = (id: Sql) => sql`(select subject from principal where id = ${id})`

/** SQL: the authorship of a reservation `r`, in columns named as in `Authorship`. */
export const AUTHORSHIP = sql`${subjectOf(sql`r.made_by`)} as made_by, ${subjectOf(sql`r.settled_by`)} as settled_by,
  coalesce((
    select json_agg(json_build_object(
      'action', action, 'total_units', total_units, 'at', floor(extract(epoch from at) * 1000)::bigint,
      'by', ${subjectOf(sql`last.principal`)}, 'request_id', request_id
    ) order by at, action, total_units)
    from (
      select * from reservation_action n
      where n.shard = r.shard and n.user_id = r.user_id and n.reservation_id = r.id
      order by at desc, action desc, total_units desc limit ${sqlInteger(MAX_ACTIONS)}
    ) last
  ), '[]') as actions`

/** Loads the authors of reservations, and their actions. */
export const loadAuthorship = ledgerStatement<ReservationKey>(
  'load-authorship',
  RESERVATION_KEY,
  ({ k }) => sql`select ${list} from (
      select r.user_id, r.id, ${AUTHORSHIP} from ${k}
      join reservation r on r.shard = k.shard and r.user_id = k.user_id and r.id = k.id
    ) a`,
)

export function authorshipsIn(result: StatementResult | undefined): (ReservationKey & Authorship)[] {
  return (result?.rows ?? []).map(cells => ({
    user_id: COLUMNS.user_id.read(cells[AT.user_id]),
    id: COLUMNS.id.read(cells[AT.id]),
    made_by: COLUMNS.made_by.read(cells[AT.made_by]),
    settled_by: COLUMNS.settled_by.read(cells[AT.settled_by]),
    actions: JSON.parse(COLUMNS.actions.read(cells[AT.actions])) as AuthoredAction[],
  }))
}
