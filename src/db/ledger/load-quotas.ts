import { unexpiredAt } from '../unexpired.ts'
import { bigints } from './arrays.ts'
import { QUOTA_LIST } from './quota-rows.ts'
import { ledgerStatement, NOW, type Parameters } from './statement.ts'

const USERS = { user_id: bigints((user: number) => user) }

/**
 * Sorts by id, in words that no index has. For a plain `id` PostgreSQL takes the index of users' quotas by id, which has
 * the order and not the expiry, and reads the expired quotas too.
 */
const BY_ID = 'id + 0'

const ofUsers = ({ shard, arrays: users, bind }: Parameters) => `select ${QUOTA_LIST} from quota
    where shard = ${shard} and user_id = any(${users}) and ${unexpiredAt(bind(NOW))}
    order by user_id, ${BY_ID}`

/** Users' quotas that are neither deleted nor over, locked: for a batch in locked mode. */
export const loadQuotas = ledgerStatement('load-quotas', USERS, parameters => `${ofUsers(parameters)} for update`)

/** Users' quotas that are neither deleted nor over, without a lock: a batch in optimistic mode guards what it has read. */
export const readQuotas = ledgerStatement('read-quotas', USERS, ofUsers)

/** Quotas by id: deleted ones, and those that are over, on which reservations still draw. */
export const loadDrawnQuotas = ledgerStatement(
  'load-drawn-quotas',
  { id: bigints((id: number) => id) },
  ({ shard, arrays: ids }) =>
    `select ${QUOTA_LIST} from quota where shard = ${shard} and id = any(${ids}) order by user_id, id for update`,
)
