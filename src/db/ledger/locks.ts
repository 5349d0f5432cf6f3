import type { Allowance } from '../../domain/quotas/quota.ts'
import { formatTimestamp } from '../../domain/time/time.ts'
import { sql } from '../connection/sql.ts'
import { QUOTA_KEY, USER_KEY } from './keys.ts'
import { ledgerStatement, type Scalar } from './statement.ts'
import { fencedSince, unexpiredAt } from './unexpired.ts'

/**
 * Lets the transaction wait longer for locks than a batch of many users may: it is for batches that run apart, and for
 * those that have to be settled.
 */
export const waitForLocks = ledgerStatement('wait-for-locks', {}, () => sql`set local lock_timeout = '1s'`)

/** Locks users' accounts, where administrators' changes lock too. Rows are read in later statements, which see those. */
export const lockAccounts = ledgerStatement(
  'lock-accounts',
  USER_KEY,
  ({ k }) => sql`select 1 from ${k}
    join account a on a.shard = k.shard and a.user_id = k.user_id
    order by a.user_id for update of a`,
)

/**
 * Locks accounts by a write, after a commit of unknown outcome and for answers that report an earlier effect: only a
 * transaction that writes proves what holds. With a synchronous standby, a read may show a commit that the standby does
 * not have.
 */
export const writeAccounts = ledgerStatement(
  'write-accounts',
  USER_KEY,
  ({ k }) => sql`insert into account as a (shard, user_id) select k.shard, k.user_id from ${k} order by k.user_id
    on conflict (shard, user_id) do update set live = a.live`,
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
  USER_KEY,
  ({ k, bind }) => sql`update quota q set seq = q.seq + 1
    from (
      select q.shard, q.id from ${k}
      join quota q on q.shard = k.shard and q.user_id = k.user_id
      where ${unexpiredAt(bind(FENCED_SINCE))}
      order by q.user_id, q.id + 0 for update of q
    ) locked
    where q.shard = locked.shard and q.id = locked.id`,
)

type QuotaOfUser = Pick<Allowance, 'user_id' | 'id'>

/**
 * Locks quotas by user and id, for a batch whose updates are two statements. Each of these locks in that order, but
 * together they do not, and deadlocked with batches that lock in that order. A batch that rolls some quotas and increments
 * others is rare, because a quota rolls once in a window: all other batches do without.
 */
export const lockQuotas = ledgerStatement<QuotaOfUser>(
  'lock-quotas',
  QUOTA_KEY,
  ({ k }) => sql`select 1 from ${k}
    join quota q on q.shard = k.shard and q.id = k.id
    order by q.user_id, q.id for update of q`,
)

export function byUserAndId(one: QuotaOfUser, other: QuotaOfUser): number {
  return one.user_id - other.user_id || one.id - other.id
}
