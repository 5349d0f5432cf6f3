import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Kind } from '../../components/kind.tsx'
import type { PlanSlot } from '../../model/plan-form.ts'
import { texts } from '../../texts/texts.ts'
import classes from './plan.module.css'
import { slotText } from './slot-text.ts'

/** Whether new users get the plan, or no further user does. Nothing for other plans. */
export function PlanBadges({ plan: { is_default, archived } }: { plan: Pick<Api['Plan'], 'is_default' | 'archived'> }) {
  if (archived) return <Badge tone="over">{texts.plans.isArchived}</Badge>
  return is_default ? <Badge tone="good">{texts.plans.isDefault}</Badge> : null
}

/** The quotas of a plan, each in one line. */
export function SlotList({ slots }: { slots: readonly PlanSlot[] }) {
  return (
    <ul data-plain className={classes.slotList}>
      {slots.map(slot => (
        <li key={slot.slot}>
          <Kind kind={slot.kind}>
            <span>
              <strong>
                <bdi>{slot.name ?? slot.slot}</bdi>
              </strong>
              <bdi className={classes.slotText}>{slotText(slot)}</bdi>
            </span>
          </Kind>
        </li>
      ))}
    </ul>
  )
}
