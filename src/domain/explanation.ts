import type { DrawCommand, Explanation } from './command.ts'
import { type Matches, neededBy } from './matching.ts'
import { type Allowance, headroomOf } from './quota.ts'
import type { Reservation } from './reservation.ts'

/**
 * Why each of a user's quotas did or did not count: caps, then grants in burn order, then the skipped ones.
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
  })
  const grants = matches.grants.map(grant => {
    const units = unitsOn(grant)
    if (units > 0) return line(grant, 'draws', units)
    if (headroomOf(grant) <= 0) return line(grant, 'exhausted', 0)
    // In a denial no grant is "not needed": its headroom was too small, or a cap blocked the request.
    return line(grant, reservation === null ? 'has_headroom' : 'not_needed', 0)
  })
  const caps = matches.caps.map(cap =>
    line(cap, headroomOf(cap) < neededBy(command) ? 'blocks' : 'has_headroom', unitsOn(cap)),
  )
  return [...caps, ...grants, ...matches.skipped.map(({ quota, verdict }) => line(quota, verdict, 0))]
}
