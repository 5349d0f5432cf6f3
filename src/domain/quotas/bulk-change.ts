import { type EpochMs, LATEST } from '../time/time.ts'
import { extendEnd } from '../time/window.ts'
import { type Adjustment, adjustQuota } from './adjust.ts'
import { changeQuota, deleteQuota, type Quota, type QuotaChange, unknownIn } from './quota.ts'

export const BULK_ACTIONS = ['suspend', 'resume', 'extend', 'adjust', 'delete'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/** One change, to be made to many quotas. */
export type BulkChange =
  | { action: 'suspend' | 'resume' | 'delete' }
  /** Moves the expiry to a time, or by a duration of ISO 8601 without hours, such as `P1M`. */
  | { action: 'extend'; expires_at: EpochMs | null }
  | { action: 'extend'; by: string }
  | ({ action: 'adjust'; reason: string } & Adjustment)

/** Makes the change to a quota that is not deleted, under the rules of single changes. */
export function applyBulkChange(
  current: Quota,
  change: BulkChange,
  context: { now: EpochMs; actor: string },
): QuotaChange {
  const unknown = unknownIn(current)
  if (unknown !== null) return { outcome: 'unknown_value', cause: unknown }
  switch (change.action) {
    case 'suspend':
      return changeQuota(current, { enabled: false }, context)
    case 'resume':
      return changeQuota(current, { enabled: true }, context)
    case 'extend':
      if ('expires_at' in change) return changeQuota(current, { expires_at: change.expires_at }, context)
      return extend(current, change.by, context)
    case 'adjust':
      return adjustQuota(current, change, context)
    case 'delete':
      return { outcome: 'changed', ...deleteQuota(current, context) }
  }
}

function extend(current: Quota, by: string, context: { now: EpochMs; actor: string }): QuotaChange {
  const { expires_at: expiresAt, time_zone: timeZone } = current
  if (expiresAt === null) return invalid('needs a quota that expires; this one never does')
  const { end, anchor } = extendEnd(expiresAt, current.expiry_anchor, by, timeZone)
  if (end > LATEST) return invalid('moves the expiry past the end of the year 9999')
  const change = changeQuota(current, { expires_at: end }, context)
  return change.outcome === 'changed' ? { ...change, quota: { ...change.quota, expiry_anchor: anchor } } : change
}

function invalid(message: string): QuotaChange {
  return { outcome: 'invalid', issues: [{ path: '/change/by', message }] }
}
