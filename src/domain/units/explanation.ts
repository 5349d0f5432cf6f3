import { type Allowance, headroomOf } from '../quotas/quota.ts'
import { formatTimestamp } from '../time/time.ts'
import type { DrawCommand, Explanation } from './command.ts'
import type { EndedQuota } from './draft.ts'
import { type Matches, neededBy, roomUnder } from './matching.ts'
import type { Reservation } from './reservation.ts'

/**
 * Why each of a user's quotas did or did not count: caps, then grants in burn order, then the skipped ones, then those
 * that ended before.
 *
 * @param reservation what was granted; null for a denial
 */
export function explain(matches: Matches, command: DrawCommand, reservation: Reservation | null): Explanation[] {
  const unitsOn = (quota: Allowance) =>
    (reservation?.draws ?? [])
      .filter(({ quota_id }) => quota_id === quota.id)
      .reduce((sum, { from, to }) => sum + to - from, 0)
  const line = (quota: Allowance, verdict: Explanation['verdict'], units: number): Explanation => ({
    quota_id: quota.id,
    kind: quota.kind,
    verdict,
    units,
    ...(verdict === 'expired' && quota.expires_at !== null ? { expires_at: quota.expires_at } : undefined),
  })
  const grants = matches.grants.map(grant => {
    const units = unitsOn(grant)
    if (units > 0) return line(grant, 'draws', units)
    if (headroomOf(grant) <= 0) return line(grant, 'exhausted', 0)
    // In a denial no grant is "not needed": its headroom was too small, or a cap blocked the request.
    return line(grant, reservation === null ? 'has_headroom' : 'not_needed', 0)
  })
  const caps = matches.caps.map(cap =>
    line(cap, roomUnder(cap, matches.messages) < neededBy(command) ? 'blocks' : 'has_headroom', unitsOn(cap)),
  )
  const lines = [...caps, ...grants, ...matches.skipped.map(({ quota, verdict }) => line(quota, verdict, 0))]
  return [...lines, ...explainEnded(matches.ended, lines)]
}

/** The lines of those ended quotas that an explanation does not name yet. */
export function explainEnded(
  ended: readonly EndedQuota[],
  lines: readonly Pick<Explanation, 'quota_id'>[],
): Explanation[] {
  return ended
    .filter(({ id }) => !lines.some(({ quota_id }) => quota_id === id))
    .map(({ id, kind, expires_at }) => ({ quota_id: id, kind, verdict: 'expired', units: 0, expires_at }))
}

/** A line of an explanation as the API shows it. */
export type ExplanationView = Omit<Explanation, 'expires_at'> & { expires_at?: string }

export function explanationViewOf({ quota_id, kind, verdict, units, expires_at }: Explanation): ExplanationView {
  const line = { quota_id, kind, verdict, units }
  return expires_at === undefined ? line : { ...line, expires_at: formatTimestamp(expires_at) }
}
