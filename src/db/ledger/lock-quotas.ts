import type { Allowance } from '../../domain/quota.ts'
import { sql } from '../connection/sql.ts'
import { QUOTA_KEY } from './keys.ts'
import { ledgerStatement } from './statement.ts'

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
