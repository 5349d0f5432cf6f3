/** The rules that the settings of a quota obey, at any time. */
import type { ValidationIssue } from '../errors.ts'
import { anchorError } from './anchor.ts'
import { isUint } from './bounds.ts'
import type { QuotaIdentity, QuotaSettings } from './quota-settings.ts'

/** Checks the rules that concern several fields together. */
export function issuesOf(definition: QuotaIdentity & QuotaSettings): ValidationIssue[] {
  const { user_id, kind, limit, period, rollover_limit, overage_limit, priority, starts_at, expires_at } = definition
  const issues = notIntegers({ user_id, limit, rollover_limit, overage_limit, priority })
  const wrongAnchor = anchorError(period, definition.anchor)
  if (wrongAnchor !== null) issues.push({ path: '/anchor', message: wrongAnchor })
  if (kind === 'cap' && limit === null)
    issues.push({ path: '/limit', message: 'a cap needs a limit; null (unlimited) is for grants' })
  if (rollover_limit > 0 && (kind === 'cap' || limit === null || period === null))
    issues.push({ path: '/rollover_limit', message: 'must be 0 unless the quota is a grant with a limit and a period' })
  if (overage_limit > 0 && (kind === 'cap' || limit === null))
    issues.push({ path: '/overage_limit', message: 'must be 0 unless the quota is a grant with a limit' })
  if (expires_at !== null && expires_at <= starts_at)
    issues.push({ path: '/expires_at', message: 'must be after starts_at' })
  return issues
}

/** A schema has checked these. A hole there must not become a wrong count here: `'5'` is not 5. */
export function notIntegers(values: Record<string, number | null>): ValidationIssue[] {
  const wrong = Object.entries(values).filter(([, value]) => value !== null && !isUint(value))
  return wrong.map(([name]) => ({ path: `/${name}`, message: 'must be a whole number from 0' }))
}
