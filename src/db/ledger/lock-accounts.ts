import { formatTimestamp } from '../../domain/time.ts'
import { fencedSince, unexpiredAt } from '../unexpired.ts'
import { bigints } from './arrays.ts'
import { ledgerStatement, type Scalar } from './statement.ts'

const USERS = { user_id: bigints((user: number) => user) }

/** Locks users' accounts, where administrators' changes lock too. Rows are read in later statements, which see those. */
export const lockAccounts = ledgerStatement(
  'lock-accounts',
  USERS,
  ({ shard, arrays: users }) =>
    `select 1 from account where shard = ${shard} and user_id = any(${users}) order by user_id for update`,
)

/**
 * Locks accounts by a write, after a commit of unknown outcome: only a transaction that writes proves what holds. With a
 * synchronous standby, a read may show a commit that the standby does not have.
 */
export const writeAccounts = ledgerStatement(
  'write-accounts',
  USERS,
  ({ shard, arrays: users }) =>
    `insert into account (shard, user_id) select ${shard}::smallint, u from unnest(${users}) u order by u
    on conflict (shard, user_id) do update set live = account.live`,
)

const FENCED_SINCE: Scalar = (_, now) => formatTimestamp(fencedSince(now))

/**
 * Gives users' quotas another `seq`, after a commit of unknown outcome. A batch that was sent earlier and reaches the
 * server later then fails; otherwise a caller could be answered with a denial and be charged afterwards. Quotas that have
 * long expired need no fence: the earlier batch drew on an unexpired one, and settlements are guarded by the `seq` of
 * their reservations. The rows are locked in the order in which batches lock them.
 */
export const fenceQuotas = ledgerStatement(
  'fence-quotas',
  USERS,
  ({ shard, arrays: users, bind }) =>
    `update quota q set seq = q.seq + 1
    from (
      select id from quota where shard = ${shard} and user_id = any(${users}) and ${unexpiredAt(bind(FENCED_SINCE))}
      order by user_id, id + 0 for update
    ) locked
    where q.shard = ${shard} and q.id = locked.id`,
)
