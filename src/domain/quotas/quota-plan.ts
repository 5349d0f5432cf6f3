import type { EpochMs } from '../time/time.ts'
import { isDeepEqual, PLANNED_NAMES, type PlannedName, type QuotaSettings } from './quota-settings.ts'

/** A field that a plan sets. The expiry follows from the days that the slot lasts. */
export type KeptName = PlannedName | 'expires_at'

/** What the first window of a quota of a plan began with. */
interface Opening {
  /** Units or messages of earlier quotas of the slot with which its first window began. Left out: none. */
  carried?: number
  /** How many of them each of those quotas had used. Left out: it is not known, as of quotas that earlier versions made. */
  carried_from?: readonly Carried[]
  /** Whether it began anew although earlier quotas of the slot had used units in an open window. Left out: no. */
  fresh?: true
}

/** The units or messages that a quota has used in a window that is open. */
export interface Carried {
  quota_id: number
  units: number
}

/** The plan that a quota is of. */
export interface QuotaPlan extends Opening {
  id: number
  /** As it was when this version was given. */
  name: string
  version: number
  slot: string
  /** The fields that an administrator has changed since, in the order of the settings: later versions leave them. */
  kept: readonly KeptName[]
  /** When the user got the plan. Left out: with this quota, when it started. */
  since?: EpochMs
}

/** The slot that a quota had before its plan ended it. The units that it used count in the next quota of the slot, while its window would have been open. */
export interface FormerSlot extends Opening, Pick<QuotaPlan, 'slot'> {
  /** The end of that window; null: it had none. */
  until: EpochMs | null
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
