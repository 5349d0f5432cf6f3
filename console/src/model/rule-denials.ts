import type { Api } from '../api/types.ts'

/** What pauses and caps denied in the last 24 hours. */
export type RuleDenials = Api['RuleDenials']

/** What the caps of a plan denied, by slot, and what all other caps did. */
export function deniedByCaps({ items }: Pick<RuleDenials, 'items'>, plan: Pick<Api['Plan'], 'id' | 'slots'>) {
  const bySlot = new Map(plan.slots.map(({ slot }) => [slot, 0]))
  let others = 0
  for (const { reason, plan_id, slot, denials } of items) {
    if (reason !== 'cap_reached') continue
    const before = plan_id === plan.id && slot !== null ? bySlot.get(slot) : undefined
    if (slot === null || before === undefined) others += denials
    else bySlot.set(slot, before + denials)
  }
  return { bySlot, others }
}

/** What each pause denied, by its id. */
export function deniedByPauses({ items }: Pick<RuleDenials, 'items'>): ReadonlyMap<number, number> {
  return new Map(items.flatMap(({ pause_id, denials }) => (pause_id === null ? [] : [[pause_id, denials] as const])))
}
