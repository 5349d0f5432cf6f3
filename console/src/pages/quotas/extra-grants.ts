import type { Api } from '../../api/types.ts'
import { type Extra, extraGrant } from '../../components/extra-grant.ts'
import { quotaName } from '../../components/quota-labels.ts'
import type { ImportLine } from '../../queries/jobs.ts'
import { texts } from '../../texts/texts.ts'

type Quota = Api['SmsQuota']

/** Why a quota cannot get units for one window; null if it can. */
export function whyNoExtra({ kind, period, limit, status }: Quota): string | null {
  const { notAGrant, unlimited, oneTime, notLive } = texts.manyQuotas.extra
  if (kind !== 'grant') return notAGrant
  if (status !== 'active' && status !== 'exhausted') return notLive
  if (limit === null) return unlimited
  return period === null ? oneTime : null
}

/**
 * The row of an import that gives the units.
 *
 * @param reference of the new grant, so that a repeated import gives nothing twice
 * @param place where the row comes from
 */
export function extraLine(extra: Extra, reason: string, reference: string, place: string): ImportLine {
  const grant = extraGrant(extra, { name: texts.manyQuotas.extra.name(quotaName(extra.quota)), reason })
  return { json: JSON.stringify({ ...grant, external_ref: reference }), place }
}
