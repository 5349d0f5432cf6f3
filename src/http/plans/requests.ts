import type { CreatePlanReq } from '../../contract/plans.ts'
import type { SlotDraft } from '../../domain/plans/plan.ts'
import { canonical } from '../quotas/requests.ts'

/** A slot in the form in which it is stored and compared. */
export function slotDraftOf({ slot, lasts_days = null, ...fields }: CreatePlanReq['slots'][number]): SlotDraft {
  return { slot, lasts_days, ...canonical(fields, { properties: fields }) }
}
