import { type EpochMs, formatTimestamp, formatTimestampOrNull } from '../time/time.ts'
import { isExtra } from './extra-grant.ts'
import { isLive, type Quota, shownWindowEnd } from './quota.ts'

/** What becomes of a request: administrators approve or decline it, its user withdraws it. */
export const REQUEST_STATUSES = ['open', 'approved', 'declined', 'withdrawn'] as const
export type RequestStatus = (typeof REQUEST_STATUSES)[number]

/** The terms that a user asks for. */
export interface IncreaseTerms {
  units: number
  /** When the units end; null: never. */
  until: EpochMs | null
  reason: string
}

/** A user's request for more units on a grant, and how it was decided. */
export interface IncreaseRequest extends IncreaseTerms {
  id: number
  user_id: number
  /** The grant that is to get the units. */
  quota_id: number
  status: RequestStatus
  created_at: EpochMs
  /** When it was approved, declined or withdrawn, and the subject that did it; null while it is open. */
  decided_at: EpochMs | null
  decided_by: string | null
  /** What the user reads about the decision. */
  note: string | null
  /** What was given, and the grant that has it; null unless it is approved. */
  granted_units: number | null
  granted_until: EpochMs | null
  granted_quota_id: number | null
}

/**
 * The grant that gets units: the one that is asked for, or else the one that pays first. Only one with a limit, and none that gives units
 * to another one for a time.
 *
 * @param quotas of one user, in their windows of `now`
 */
export function grantToIncrease(quotas: readonly Quota[], quotaId: number | null, now: EpochMs): Quota | undefined {
  return quotas
    .filter(quota => quota.kind === 'grant' && quota.limit !== null && !isExtra(quota) && isLive(quota, now))
    .filter(quota => quotaId === null || quota.id === quotaId)
    .toSorted((one, other) => one.priority - other.priority || one.id - other.id)[0]
}

/**
 * Whether a request is small enough to be approved without a person: at most `percent` of the grant's limit, and nothing that outlasts the
 * grant's window.
 */
export function isSmall({ units, until }: IncreaseTerms, quota: Quota, percent: number): boolean {
  const end = shownWindowEnd(quota) ?? Number.POSITIVE_INFINITY
  // The limit of a grant without a period is that of its only window.
  const isForWindow = until === null ? quota.period === null : until <= end
  return isForWindow && units * 100 <= (quota.limit ?? 0) * percent
}

/** Whether a repeated approval asks for what was given, as far as it says anything. */
export function isSameApproval(
  { status, granted_units, granted_until }: IncreaseRequest,
  { units, until }: Partial<Pick<IncreaseTerms, 'units' | 'until'>>,
): boolean {
  const isSameSize = units === undefined || units === granted_units
  return status === 'approved' && isSameSize && (until === undefined || until === granted_until)
}

/** A request as administrators read it. */
export function requestViewOf({ granted_units, granted_until, granted_quota_id, ...request }: IncreaseRequest) {
  return {
    ...request,
    until: formatTimestampOrNull(request.until),
    created_at: formatTimestamp(request.created_at),
    decided_at: formatTimestampOrNull(request.decided_at),
    granted:
      granted_units === null || granted_quota_id === null
        ? null
        : { quota_id: granted_quota_id, units: granted_units, until: formatTimestampOrNull(granted_until) },
  }
}

/** A request as its user reads it: who decided is the administrators' own. */
export function ownRequestViewOf(request: IncreaseRequest) {
  return { ...requestViewOf(request), decided_by: null }
}
