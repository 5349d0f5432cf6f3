import type { EpochMs } from '../time/time.ts'
import { EXHAUSTED, hasNoUnits } from './alerts.ts'
import { type Allowance, shownWindowEnd } from './quota.ts'

/** A mark of a quota, as it is stored for lists. */
export interface QuotaAlert {
  quota_id: number
  /** A percent of `alert_at`, or `EXHAUSTED`. */
  percent: number
  /** When the mark can no longer hold: the end of its window or of the quota. Null: never. */
  ends_at: EpochMs | null
}

/** The marks of a quota as rows, in the order given. */
export function quotaAlertsOf(quota: Allowance, percents: readonly number[]): QuotaAlert[] {
  return percents.map(percent => ({
    quota_id: quota.id,
    percent,
    ends_at: percent === EXHAUSTED && hasNoUnits(quota) ? quota.expires_at : shownWindowEnd(quota),
  }))
}
