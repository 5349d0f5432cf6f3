import type { Api } from '../../api/types.ts'
import { quotaName } from '../../components/quota-labels.ts'
import type { ImportLine } from '../../queries/jobs.ts'
import { manyTexts } from '../../texts/many-quotas.ts'

type Quota = Api['SmsQuota']

/** Units that do not last: a limit has no end of its own, so they are a grant of their own. */
export interface Extra {
  quota: Quota
  units: number
  /** When the units end; null for never. */
  end: string | null
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
 * The row of an import that gives the units: a grant for the same messages.
 *
 * @param reference of the new grant, so that a repeated import gives nothing twice
 * @param place where the row comes from
 */
export function extraGrant({ quota, units, end }: Extra, reason: string, reference: string, place: string): ImportLine {
  const { id, user_id, priority, countries, message_types } = quota
  const row = {
    user_id,
    external_ref: reference,
    name: manyTexts.extra.name(quotaName(quota)).slice(0, 120),
    limit: units,
    expires_at: end,
    priority,
    countries,
    message_types,
    metadata: { extends_quota: String(id), reason: reason.slice(0, 500) },
  }
  return { json: JSON.stringify(row), place }
}
