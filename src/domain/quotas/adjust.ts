import type { ValidationIssue } from '../../errors.ts'
import { MAX_UNITS } from '../basics/bounds.ts'
import type { EpochMs } from '../time/time.ts'
import { changeQuota, type Quota, type QuotaChange } from './quota.ts'

/** A request to add units to a quota's current limit, or to take units from it. */
export interface Adjustment {
  /** Not 0. */
  delta: number
  allow_below_usage?: boolean
}

/** Changes the limit of a quota that is not deleted by `delta`, under the rules of `changeQuota`. */
export function adjustQuota(
  current: Quota,
  { delta, allow_below_usage = false }: Adjustment,
  context: { now: EpochMs; actor: string },
): QuotaChange {
  if (current.limit === null) return invalid('needs a quota with a limit; this one is unlimited')
  if (!Number.isSafeInteger(delta)) return invalid('must be a whole number')
  const limit = current.limit + delta
  if (limit < 0 || limit > MAX_UNITS)
    return invalid(`moves the limit of ${current.limit} to ${limit}; it must be from 0 to ${MAX_UNITS}`)
  return changeQuota(current, { limit, allow_below_usage }, context)
}

function invalid(message: string): QuotaChange {
  const issues: ValidationIssue[] = [{ path: '/delta', message }]
  return { outcome: 'invalid', issues }
}
