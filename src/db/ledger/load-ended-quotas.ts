import { QUOTA_KINDS } from '../../domain/quotas/quota-settings.ts'
import type { EndedQuota } from '../../domain/units/draft.ts'
import type { StatementResult } from '../connection/pipelined-connection.ts'
import { type Sql, sql, sqlInteger } from '../connection/sql.ts'
import { USER_KEY } from './keys.ts'
import { number, oneOf, selectListOf, timestamp } from './rows.ts'
import { ledgerStatement, NOW } from './statement.ts'
import { EXPIRY, expiredAt } from './unexpired.ts'

/** The most ended quotas that an explanation names. A daily package leaves a thousand of them in three years. */
const MAX_ENDED = 20

const COLUMNS = {
  user_id: number,
  id: number,
  kind: oneOf('the kind of an ended quota', QUOTA_KINDS),
  expires_at: timestamp,
}

const { list, at: AT } = selectListOf(COLUMNS, sql`q`)

/**
 * Reads the quotas of each user that ended last, newest first. It walks the index of unexpired quotas down from now, so
 * it costs the same however many have ended.
 */
export const readEndedQuotas = ledgerStatement('read-ended-quotas', USER_KEY, ({ k, bind }) =>
  endedBefore(k, bind(NOW), sql``),
)

/** `read-ended-quotas` of users of one shard, through the coordinator of a cluster, which needs to know the shard. */
export const readEndedQuotasOfShard = ledgerStatement('read-ended-quotas-of-shard', USER_KEY, ({ k, shards, bind }) =>
  endedBefore(k, bind(NOW), sql`and q.shard = any(${shards})`),
)

function endedBefore(k: Sql, now: Sql, condition: Sql): Sql {
  return sql`select ${list} from ${k}
    cross join lateral (
      select * from quota q
      where q.shard = k.shard and q.user_id = k.user_id and ${expiredAt(now)} ${condition}
      order by ${EXPIRY} desc limit ${sqlInteger(MAX_ENDED)}
    ) q`
}

export function endedQuotasIn(result: StatementResult | undefined): EndedQuota[] {
  return (result?.rows ?? []).map(cells => ({
    user_id: COLUMNS.user_id.read(cells[AT.user_id]),
    id: COLUMNS.id.read(cells[AT.id]),
    kind: COLUMNS.kind.read(cells[AT.kind]),
    expires_at: COLUMNS.expires_at.read(cells[AT.expires_at]),
  }))
}
