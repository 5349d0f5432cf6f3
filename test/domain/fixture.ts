import { createQuota, type Quota, type QuotaDraft } from '../../src/domain/quotas/quota.ts'
import { QUOTA_DEFAULTS } from '../../src/domain/quotas/quota-settings.ts'
import type { EpochMs } from '../../src/domain/time/time.ts'

/** `2026-01-31` or `2026-01-31 23:59:59.999`, in UTC. */
export function at(text: string): EpochMs {
  return Date.parse(text.length > 10 ? `${text.replace(' ', 'T')}Z` : text)
}

/** An unused grant of 100 units a month in the window of January 2026, with `fields` replaced. */
export function aQuota(fields: Partial<Quota> = {}): Quota {
  return {
    ...QUOTA_DEFAULTS,
    id: 64,
    user_id: 7,
    limit: 100,
    period: 'month',
    starts_at: at('2026-01-01'),
    window_no: 0,
    window_start: at('2026-01-01'),
    window_end: at('2026-02-01'),
    used: 0,
    reserved: 0,
    rolled_over: 0,
    alerted: [],
    expiry_emitted: false,
    expiry_anchor: null,
    plan: null,
    former: null,
    version: 1,
    created_at: at('2026-01-01'),
    created_by: 'ada',
    updated_at: at('2026-01-01'),
    updated_by: 'ada',
    deleted_at: null,
    ...fields,
  }
}

/** Creates a quota; throws if the draft is invalid. */
export function created(draft: Partial<QuotaDraft>, now: EpochMs): Quota {
  const result = createQuota({ user_id: 7, limit: 100, ...draft }, { id: 64, now, actor: 'ada' })
  if ('issues' in result) throw new Error(JSON.stringify(result.issues))
  return result.quota
}
