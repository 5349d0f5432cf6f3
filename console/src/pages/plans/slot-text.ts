import { type PlanSlot, termsOfSlot } from '../../model/plan-form.ts'
import { texts } from '../../texts/texts.ts'
import { describe } from '../quota/settings.ts'

/** A quota of a plan in one line. */
export function slotText(slot: PlanSlot): string {
  return [describe(termsOfSlot(slot)), ...lastsText(slot)].join('; ')
}

/** When the quota ends of itself. */
export function lastsText({ lasts_days }: Pick<PlanSlot, 'lasts_days'>): string[] {
  return lasts_days === null ? [] : [texts.plans.lasts(lasts_days)]
}
