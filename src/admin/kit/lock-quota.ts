import type { Transaction } from '../../db/connection/database.ts'
import { findQuota, lockKnownAccounts, lockQuotasOfUser } from '../../db/quotas/quotas.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'

/** The condition of a change on the version of the quota (`If-Match`). */
export type VersionCheck = (version: number) => boolean

/**
 * A quota to change, with the user's other quotas that the change depends on: the unexpired ones, and the one that has
 * the `external_ref` that is asked for. All of them are locked until the transaction ends.
 */
export interface KnownQuota {
  outcome: 'known'
  quota: Quota
  others: Quota[]
}

/** `not_found`: there is no such quota, or it is deleted. */
export type NotChangeable = { outcome: 'not_found' } | { outcome: 'version_mismatch'; version: number }

/** The first step of a change: knows the quota and its user, under locks. */
export async function lockQuota(
  tx: Transaction,
  id: number,
  now: EpochMs,
  mayChange: VersionCheck,
  externalRef: string | null = null,
): Promise<KnownQuota | NotChangeable> {
  const found = await findQuota(tx, id)
  if (found === undefined) return { outcome: 'not_found' }
  const known = await lockKnownAccounts(tx, [found.user_id])
  if (known.size === 0) return { outcome: 'not_found' }
  const quotas = await lockQuotasOfUser(tx, found.user_id, now, { id, external_ref: externalRef })
  const quota = quotas.find(one => one.id === id)
  if (quota === undefined) return { outcome: 'not_found' }
  if (!mayChange(quota.version)) return { outcome: 'version_mismatch', version: quota.version }
  return { outcome: 'known', quota, others: quotas.filter(other => other.id !== id) }
}
