import type { SmsQuota } from '../../src/contract/quotas.ts'
import { QUOTA_DEFAULTS } from '../../src/domain/quotas/quota-settings.ts'

/** A grant of 100 units in all, as the API shows it. */
export const QUOTA: SmsQuota = {
  ...QUOTA_DEFAULTS,
  id: 1,
  user_id: 7,
  limit: 100,
  starts_at: '2026-03-01T00:00:00.000Z',
  alert_at: [],
  used: 0,
  reserved: 0,
  rolled_over: 0,
  remaining: 100,
  overage: 0,
  window_start: '2026-03-01T00:00:00.000Z',
  window_end: null,
  status: 'active',
  plan: null,
  version: 1,
  created_at: '2026-03-01T00:00:00.000Z',
  created_by: '1',
  updated_at: '2026-03-01T00:00:00.000Z',
  updated_by: '1',
}
