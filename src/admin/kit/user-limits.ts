import { MAX_CAPS_PER_VALUE, MAX_QUOTAS_PER_USER } from '../../domain/basics/bounds.ts'
import { type Quota, statusOf } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'

/** Why a user's other quotas forbid this one; that there are too many comes first. */
export type ForbiddenByOthers =
  /** Another quota of the user has this `external_ref`. */
  { outcome: 'conflict'; existingId: number } | { outcome: 'too_many_quotas' | 'too_many_caps_per_value' }

/** Compares a quota with the user's other quotas that its change depends on (`lockQuotasOfUser`); undefined if they allow it. */
export function forbiddenByOthers(quota: Quota, others: readonly Quota[], now: EpochMs): ForbiddenByOthers | undefined {
  if (statusOf(quota, now) !== 'expired') {
    if (countUnexpired(others, now) >= MAX_QUOTAS_PER_USER) return { outcome: 'too_many_quotas' }
    const alike = others.filter(({ per }) => per !== null)
    if (quota.per !== null && countUnexpired(alike, now) >= MAX_CAPS_PER_VALUE)
      return { outcome: 'too_many_caps_per_value' }
  }
  const twin = others.find(other => other.external_ref !== null && other.external_ref === quota.external_ref)
  return twin === undefined ? undefined : { outcome: 'conflict', existingId: twin.id }
}

/** How many of the quotas are neither deleted nor expired. */
export function countUnexpired(quotas: readonly Quota[], now: EpochMs): number {
  return quotas.filter(quota => !['deleted', 'expired'].includes(statusOf(quota, now))).length
}
