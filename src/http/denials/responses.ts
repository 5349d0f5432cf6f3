import type { AdminDenialsQuery, DenialDetail, DenialPage, DenialRecord, RuleDenials } from '../../contract/denials.ts'
import type { Database } from '../../db/connection/database.ts'
import { findQuotas } from '../../db/quotas/quotas.ts'
import { findDenial, type ListedDenial, type LoggedDenial, listDenials } from '../../db/reservations/denials.ts'
import { DEFAULT_PAGE_SIZE, MAX_RULE_DENIALS } from '../../domain/bounds.ts'
import { denialIdOf, denialKeyOf } from '../../domain/denial.ts'
import { explainEnded, explanationViewOf } from '../../domain/explanation.ts'
import type { PausesByCountry } from '../../domain/pause.ts'
import { denialsByRule, RULE_REASONS } from '../../domain/rule-denials.ts'
import { DAY_MS, type EpochMs, formatTimestamp, formatTimestampOrNull } from '../../domain/time.ts'
import { Problem } from '../../errors.ts'
import type { Viewer } from '../auth/guard.ts'
import { cursorAfter, denialPageOf, filterOf } from './requests.ts'

/** A page of denials: of any user for administrators, of their own for users. */
export async function denialPage(db: Database, query: AdminDenialsQuery, viewer: Viewer): Promise<DenialPage> {
  const { filters, after } = denialPageOf(query, viewer)
  const { page_size: size = DEFAULT_PAGE_SIZE } = query
  const { denials, next } = await listDenials(db, filterOf(filters, viewer), after, size)
  return {
    items: denials.map(denial => viewFor(viewer, denial)),
    page_size: size,
    next_cursor: next && cursorAfter(next, filters),
    scanned_until: next && formatTimestamp(next.at),
  }
}

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
  return { ...viewFor(viewer, denial), explain }
}

/** What rules denied in the last 24 hours, as far as the log has it. */
export async function ruleDenials(db: Database, pauses: PausesByCountry, now: EpochMs): Promise<RuleDenials> {
  const from = now - DAY_MS
  const read = RULE_REASONS.map(reason => listDenials(db, { reason, from }, undefined, MAX_RULE_DENIALS))
  const slices = await Promise.all(read)
  const denials = slices.flatMap(slice => slice.denials)
  const caps = [...new Set(denials.flatMap(({ limiting_quota_id }) => limiting_quota_id ?? []))]
  return {
    from: formatTimestamp(from),
    complete: slices.every(({ next }) => next === null),
    items: denialsByRule(denials, await db.transaction(tx => findQuotas(tx, caps), 'snapshot'), pauses),
  }
}

/** Users do not see who asked: subjects name systems and people of the operator. */
function viewFor({ role }: Viewer, denial: ListedDenial): DenialRecord {
  return role === 'user' ? denialViewOf(denial) : { ...denialViewOf(denial), sender: denial.sender }
}

export function denialViewOf(denial: LoggedDenial): DenialRecord {
  return {
    denial_id: denialIdOf(denial),
    at: formatTimestamp(denial.at),
    user_id: denial.user_id,
    id: denial.id,
    op: denial.op,
    units: denial.units,
    country: denial.country,
    message_type: denial.message_type,
    allow_partial: denial.allow_partial,
    reason: denial.reason,
    remaining: denial.remaining,
    limiting_quota_id: denial.limiting_quota_id,
    retry_at: formatTimestampOrNull(denial.retry_at),
    skipped: denial.skipped,
  }
}
