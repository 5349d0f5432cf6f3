import { sql } from '../connection/sql.ts'
import { QUOTA_KEY, USER_KEY } from './keys.ts'
import { QUOTA_LIST } from './quota-rows.ts'
import { ledgerStatement, NOW, type Parameters } from './statement.ts'
import { unexpiredAt } from './unexpired.ts'

/**
 * Sorts by id, in words that no index has. For a plain `id` PostgreSQL takes the index of users' quotas by id, which has
 * the order and not the expiry, and reads the expired quotas too.
 */
const BY_ID = sql`q.id + 0`

const ofUsers = ({ k, bind }: Parameters) => sql`select ${QUOTA_LIST} from ${k}
    join quota q on q.shard = k.shard and q.user_id = k.user_id
    where ${unexpiredAt(bind(NOW))}
    order by q.user_id, ${BY_ID}`

/** Users' quotas that are neither deleted nor over, locked: for a batch in locked mode. */
export const loadQuotas = ledgerStatement(
  'load-quotas',
  USER_KEY,
  parameters => sql`${ofUsers(parameters)} for update of q`,
)

/** Users' quotas that are neither deleted nor over, without a lock: a batch in optimistic mode guards what it has read. */
export const readQuotas = ledgerStatement('read-quotas', USER_KEY, ofUsers)

const byId = ({ k }: Parameters) => sql`select ${QUOTA_LIST} from ${k}
    join quota q on q.shard = k.shard and q.id = k.id
    order by q.user_id, q.id`

/** Quotas by id, locked: deleted ones, and those that are over, on which reservations still draw. */
export const loadDrawnQuotas = ledgerStatement(
  'load-drawn-quotas',
  QUOTA_KEY,
  parameters => sql`${byId(parameters)} for update of q`,
)

/** The same without a lock. */
export const readDrawnQuotas = ledgerStatement('read-drawn-quotas', QUOTA_KEY, byId)
