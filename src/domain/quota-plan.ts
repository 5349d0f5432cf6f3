import { isDeepEqual, PLANNED_NAMES, type PlannedName, type QuotaSettings } from './quota-settings.ts'

/** A field that a plan sets. The expiry follows from the days that the slot lasts. */
export type KeptName = PlannedName | 'expires_at'

/** Of which plan a quota is. */
export interface QuotaPlan {
  id: number
  /** As it was when this version was given. */
  name: string
  version: number
  slot: string
  /** The fields that an administrator has changed since, in the order of the settings: later versions leave them. */
  kept: readonly KeptName[]
}

const KEPT_NAMES: readonly KeptName[] = [...PLANNED_NAMES, 'expires_at']

/** The fields, of those that a plan sets, in which a quota differs from what it was. */
export function changedNames(before: QuotaSettings, after: QuotaSettings): KeptName[] {
  return KEPT_NAMES.filter(name => !isDeepEqual(before[name], after[name]))
}

/** The plan of a quota after an administrator has changed some of its fields. */
export function planAfterHand(
  current: QuotaSettings & { plan: QuotaPlan | null },
  fields: Partial<QuotaSettings>,
): QuotaPlan | null {
  const { plan } = current
  if (plan === null) return null
  const isChanged = (name: KeptName) => name in fields && !isDeepEqual(fields[name], current[name])
  const kept = KEPT_NAMES.filter(name => plan.kept.includes(name) || isChanged(name))
  return kept.length === plan.kept.length ? plan : { ...plan, kept }
}
