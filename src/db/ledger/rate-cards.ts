import type { CardsOfUser } from '../../domain/rates/rate-book.ts'
import type { StatementResult } from '../connection/pipelined-connection.ts'
import { sql } from '../connection/sql.ts'
import { USER_KEY } from './keys.ts'
import { number, numberOrNull, selectListOf } from './rows.ts'
import { ledgerStatement } from './statement.ts'

const COLUMNS = { user_id: number, own: numberOrNull, plan: numberOrNull }

const { list, at: AT } = selectListOf(COLUMNS, sql`c`)

/**
 * Whose rate card users have: those of them that have one of their own, or a plan. Without a lock: a change of either gives the user's
 * quotas another `seq`.
 */
export const readCards = ledgerStatement(
  'read-cards',
  USER_KEY,
  ({ k }) => sql`select ${list} from (
      select k.user_id, p.rate_card_id as own, a.plan_id as plan from ${k}
      left join account a on a.shard = k.shard and a.user_id = k.user_id
      left join user_profile p on p.shard = k.shard and p.user_id = k.user_id
    ) c where c.own is not null or c.plan is not null`,
)

export function cardsIn(result: StatementResult | undefined): ({ user_id: number } & CardsOfUser)[] {
  return (result?.rows ?? []).map(cells => ({
    user_id: COLUMNS.user_id.read(cells[AT.user_id]),
    own: COLUMNS.own.read(cells[AT.own]),
    plan: COLUMNS.plan.read(cells[AT.plan]),
  }))
}
