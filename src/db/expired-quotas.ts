import type { Quota } from '../domain/quota.ts'
import type { Shard } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database, Transaction } from './database.ts'
import { lockFreeAccounts } from './ledger-calls.ts'
import { BY_KEYS } from './planner-settings.ts'
import { QUOTA_COLUMNS } from './quotas.ts'
import { timestampParam } from './values.ts'

/** A quota that has expired, and whose quota.expired was not emitted. */
export interface ExpiredQuota {
  shard: Shard
  user_id: number
  id: number
}

/** Quotas read at a time. */
export const EXPIRED_PAGE = 500

/** The quotas that expired first, a page at most. Takes no lock. Emitted ones are not in the index any more. */
export function findExpired(db: Database, now: EpochMs): Promise<ExpiredQuota[]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    return tx.query<ExpiredQuota>({
      name: 'find-expired',
      text: `select shard, user_id, id from quota
             where not expiry_emitted and deleted_at is null and expires_at <= $1
             order by expires_at limit ${EXPIRED_PAGE}`,
      values: [timestampParam(now)],
    })
  }, 'snapshot')
}

/**
 * Locks the users' accounts and then the quotas, as every writer does, and returns those quotas of a shard that are
 * still expired and not emitted. Skips rows that another transaction has locked.
 */
export async function lockExpired(
  tx: Transaction,
  shard: Shard,
  found: readonly ExpiredQuota[],
  now: EpochMs,
): Promise<Quota[]> {
  await tx.query({ text: BY_KEYS })
  const users = await lockFreeAccounts(tx, shard, [...new Set(found.map(({ user_id }) => user_id))])
  if (users.length === 0) return []
  return tx.query<Quota>({
    text: `select ${QUOTA_COLUMNS} from quota
           where shard = $1 and id = any($2::bigint[]) and user_id = any($3::bigint[])
             and not expiry_emitted and deleted_at is null and expires_at <= $4
           order by user_id, id for update skip locked`,
    values: [shard, found.map(({ id }) => id), users, timestampParam(now)],
  })
}

export async function markExpiryEmitted(
  tx: Transaction,
  shard: Shard,
  quotas: readonly Pick<Quota, 'id'>[],
): Promise<void> {
  await tx.query({
    text: 'update quota set expiry_emitted = true where shard = $1 and id = any($2::bigint[])',
    values: [shard, quotas.map(({ id }) => id)],
  })
}
