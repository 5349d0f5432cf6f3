import { extraGrant } from '../../../../src/domain/extra-grant.ts'
import { quotaName } from '../../components/quota-labels.ts'
import type { Extra } from '../../model/bulk-change.ts'
import type { ImportLine } from '../../queries/jobs.ts'
import { texts } from '../../texts/texts.ts'

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
