import type { DenialDetail, RuleDenials } from '../../contract/denials.ts'
import type { Database } from '../../db/connection/database.ts'
import { findQuotas } from '../../db/quotas/quotas.ts'
import { findDenial, listDenials } from '../../db/reservations/denials.ts'
import { MAX_RULE_DENIALS } from '../../domain/basics/bounds.ts'
import type { PausesByCountry } from '../../domain/pauses/pause.ts'
import { DAY_MS, type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { denialKeyOf } from '../../domain/units/denial.ts'
import { explainEnded, explanationViewOf } from '../../domain/units/explanation.ts'
import { denialsByRule, RULE_REASONS } from '../../domain/units/rule-denials.ts'
import { Problem } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { denialViewOf } from './lists.ts'

/**
 * A denial with its explanation. Users see their own only.
 * @throws Problem `not_found`
 */
export async function denialDetail(db: Database, id: string, viewer: Viewer): Promise<DenialDetail> {
  const key = denialKeyOf(id)
  const found = key && (await findDenial(db, key))
  if (found === undefined || (viewer.role === 'user' && viewer.userId !== found.denial.user_id)) {
    throw new Problem('not_found', `There is no denial ${id} in the log, or it is not kept any more.`)
  }
  const { denial, explanation, ended } = found
  const explain = [...explanation, ...explainEnded(ended, explanation).map(explanationViewOf)]
  const sender = viewer.role === 'admin' ? { sender: denial.sender } : {}
  return { ...denialViewOf(denial), ...sender, explain }
}

/** What rules denied in the last 24 hours, as far as the log has it. */
export async function ruleDenials(db: Database, pauses: PausesByCountry, now: EpochMs): Promise<RuleDenials> {
  const from = now - DAY_MS
  const read = RULE_REASONS.map(reason => listDenials(db, { reason, from }, { size: MAX_RULE_DENIALS, now }))
  const slices = await Promise.all(read)
  const denials = slices.flatMap(({ items }) => items)
  const caps = [...new Set(denials.flatMap(({ limiting_quota_id }) => limiting_quota_id ?? []))]
  return {
    from: formatTimestamp(from),
    complete: slices.every(({ next }) => next === null),
    items: denialsByRule(denials, await db.transaction(tx => findQuotas(tx, caps), 'snapshot'), pauses),
  }
}
