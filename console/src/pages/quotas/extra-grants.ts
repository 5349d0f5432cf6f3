import type { Api } from '../../api/types.ts'
import { quotaName } from '../../components/quota-labels.ts'
import type { ImportLine } from '../../queries/jobs.ts'
import { manyTexts } from '../../texts/many-quotas.ts'

type Quota = Api['SmsQuota']

/** Units for the current window of a grant. A limit has no window, so they are a grant of their own that ends with it. */
export interface Extra {
  quota: Quota
  units: number
}

/** Why a quota cannot get units for one window; null if it can. */
export function whyNoExtra({ kind, period, limit, status }: Quota): string | null {
  const { notAGrant, unlimited, oneTime, notLive } = manyTexts.extra
  if (kind !== 'grant') return notAGrant
  if (status !== 'active' && status !== 'exhausted') return notLive
  if (limit === null) return unlimited
  return period === null ? oneTime : null
}

/**
 * The row of an import that gives the units: a grant for the same messages, until the end of the window.
 *
 * @param reference of the new grant, so that a repeated import gives nothing twice
 * @param place where the row comes from
 */
export function extraGrant({ quota, units }: Extra, reason: string, reference: string, place: string): ImportLine {
  const { id, user_id, priority, countries, message_types, window_end } = quota
  const row = {
    user_id,
    external_ref: reference,
    name: manyTexts.extra.name(quotaName(quota)).slice(0, 120),
    limit: units,
    expires_at: window_end,
    priority,
    countries,
    message_types,
    metadata: { extends_quota: String(id), reason: reason.slice(0, 500) },
  }
  return { json: JSON.stringify(row), place }
}
