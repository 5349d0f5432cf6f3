/** What a plan says of a user's quotas, and what they say: an independent comparison, for `verify`. */

import type { Quota } from '../quotas/quota.ts'
import { isDeepEqual } from '../quotas/quota-settings.ts'
import { isSameAnchor, JOINED } from '../time/anchor.ts'
import { DAY_MS } from '../time/time.ts'
import { isSameZone } from '../time/window.ts'
import { type PlanVersion, plannedFieldsOf } from './plan.ts'

/** The plan that a user has; null: none. */
export interface HeldPlan {
  plan_id: number
  plan_version: number
}

/**
 * How undeleted quotas of a plan differ from the plan of their user: one that is of another plan or version, a slot that two have or that the
 * version does not have, and a field that is not what the slot says although it was not changed by hand. A slot without a quota is none: an
 * administrator may have deleted that.
 */
export function planDifferences(
  held: HeldPlan | null,
  quotas: readonly Quota[],
  version: PlanVersion | undefined,
): { quota_id: number; message: string }[] {
  const seen = new Map<string, number>()
  return quotas.flatMap(quota => {
    const message = differenceOf(quota, held, version, seen)
    return message === null ? [] : [{ quota_id: quota.id, message: `Quota ${quota.id}: ${message}.` }]
  })
}

function differenceOf(
  quota: Quota,
  held: HeldPlan | null,
  version: PlanVersion | undefined,
  seen: Map<string, number>,
): string | null {
  const { plan } = quota
  if (plan === null) return null
  const says = `it is of version ${plan.version} of plan ${plan.id}`
  if (held === null) return `${says}, and the user has no plan`
  if (held.plan_id !== plan.id || held.plan_version !== plan.version)
    return `${says}, and the user has version ${held.plan_version} of plan ${held.plan_id}`
  const twin = seen.get(plan.slot)
  if (twin !== undefined) return `it has the slot "${plan.slot}", as quota ${twin} has`
  seen.set(plan.slot, quota.id)
  const slot = version?.slots.find(one => one.slot === plan.slot)
  if (version === undefined || slot === undefined) return `${says}, which has no slot "${plan.slot}"`
  const { anchor, time_zone, ...planned } = plannedFieldsOf(slot)
  const expires_at = slot.lasts_days === null ? null : quota.starts_at + slot.lasts_days * DAY_MS
  const kept: readonly string[] = plan.kept
  const own: Readonly<Record<string, unknown>> = { ...quota }
  const wrong = Object.entries({ ...planned, expires_at })
    .filter(([name, value]) => !kept.includes(name) && !isDeepEqual(own[name], value))
    .map(([name]) => name)
  if (anchor !== JOINED && !isSameAnchor(slot.period, quota.anchor, anchor)) wrong.push('anchor')
  if (!isSameZone(quota.time_zone, time_zone)) wrong.push('time_zone')
  if (plan.name !== version.name) wrong.push('plan.name')
  return wrong.length === 0
    ? null
    : `${wrong.join(', ')} is not what the slot "${plan.slot}" says, and was not changed by hand`
}
