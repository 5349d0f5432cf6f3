/** The rules that the settings of a quota obey, and which of them never change. */
import type { ValidationIssue } from '../../errors.ts'
import { isUint } from '../basics/bounds.ts'
import { anchorError, isSameAnchor } from '../time/anchor.ts'
import { COMMON_PERIODS } from '../time/period.ts'
import type { EpochMs } from '../time/time.ts'
import { isSameZone } from '../time/window.ts'
import { isDeepEqual, type QuotaIdentity, type QuotaSettings } from './quota-settings.ts'

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
  return [...issues, ...countingIssues(definition)]
}

/** Checks the units that a new quota counts as used already. */
export function openingIssues({ per }: QuotaSettings & QuotaIdentity, used: number): ValidationIssue[] {
  if (per === null || used === 0) return notIntegers({ opening_used: used })
  return [{ path: '/opening_used', message: 'must be 0 for a cap with per: it is of no recipient, country or tag' }]
}

/** Checks what a quota counts, and by which values. */
function countingIssues({ kind, period, per, counts, alert_at }: QuotaIdentity & QuotaSettings): ValidationIssue[] {
  const issues: ValidationIssue[] = []
  const isCap = kind === 'cap'
  if (per !== null && !isCap) issues.push({ path: '/per', message: 'must be null unless the kind is cap' })
  if (counts === 'messages' && !isCap && per === null)
    issues.push({ path: '/counts', message: 'must be units unless the kind is cap: grants are drawn by the unit' })
  if (per === null && period === 'minute')
    issues.push({ path: '/period', message: `must be null, ${COMMON_PERIODS.join(', ')}; minute is for caps with per` })
  if (per !== null && period === null)
    issues.push({ path: '/period', message: 'is required for a cap with per, whose counters are not kept for ever' })
  if (per !== null && alert_at.length > 0)
    issues.push({ path: '/alert_at', message: 'must be [] for a cap with per, which is used by each value apart' })
  return issues
}

/** A schema has checked these. A hole there must not become a wrong count here: `'5'` is not 5. */
function notIntegers(values: Record<string, number | null>): ValidationIssue[] {
  const wrong = Object.entries(values).filter(([, value]) => value !== null && !isUint(value))
  return wrong.map(([name]) => ({ path: `/${name}`, message: 'must be a whole number from 0' }))
}

const IMMUTABLE = ['user_id', 'kind', 'period', 'anchor', 'time_zone', 'per', 'counts'] as const

/** Another name of the quota's time zone changes nothing, nor does another way to write where its windows begin. */
export function asStored<Patch extends Partial<QuotaIdentity>>(
  fields: Patch,
  { period, anchor, time_zone }: QuotaIdentity,
): Patch {
  const isSame = fields.anchor !== undefined && isSameAnchor(period, fields.anchor, anchor)
  const isZone = fields.time_zone !== undefined && isSameZone(fields.time_zone, time_zone)
  return { ...fields, ...(isSame && { anchor }), ...(isZone && { time_zone }) }
}

export function immutableIssues(
  current: QuotaIdentity & Pick<QuotaSettings, 'starts_at'>,
  fields: Partial<QuotaIdentity & QuotaSettings>,
  now: EpochMs,
): ValidationIssue[] {
  const issues: ValidationIssue[] = IMMUTABLE.filter(
    name => name in fields && !isDeepEqual(current[name], fields[name]),
  ).map(name => ({
    path: `/${name}`,
    message: `cannot be changed; it is ${JSON.stringify(current[name])}`,
  }))
  if (current.starts_at <= now && 'starts_at' in fields && fields.starts_at !== current.starts_at)
    issues.push({ path: '/starts_at', message: 'cannot be changed once it is reached' })
  return issues
}
