import { PLAN_DEFAULTS, PLAN_FIELD_NAMES, type PlanFields } from '../../../../src/domain/plans/plan-fields.ts'
import type { Api } from '../../api/types.ts'
import rows from '../../components/data-table.module.css'
import { type PlanSlot, type SlotDifference, slotDifferences } from '../../model/plan-form.ts'
import { isSame } from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import { SETTING_LABELS, SETTINGS, settingText } from '../quota/settings.ts'
import { slotText } from './slot-text.ts'

const words = texts.plans.history

/** A plan as it was at the time: old records can lack fields. */
type RecordedPlan = Partial<Api['Plan']>

interface Difference {
  name: string
  /** null where there was none. */
  old: string | null
  now: string | null
}

/** What differs between two versions of a plan: its name, whether it is the default, and its quotas. */
export function PlanChanges({ before, after }: { before: RecordedPlan; after: RecordedPlan }) {
  return differencesOf(before, after).map(({ name, old, now }) => (
    <div key={name} className={`${rows.about} ${rows.name}`}>
      <bdi>{name}</bdi>: {old !== null && <bdi>{old}</bdi>}
      {old !== null && now !== null && <span aria-hidden>{' → '}</span>}
      {now !== null && <bdi>{now}</bdi>}
    </div>
  ))
}

function differencesOf(before: RecordedPlan, after: RecordedPlan): Difference[] {
  const ofPlan = [
    { name: words.version, old: numberOrNull(before.version), now: numberOrNull(after.version) },
    ...PLAN_FIELD_NAMES.map(name => ({
      name: words.fields[name],
      old: fieldText(before[name] ?? PLAN_DEFAULTS[name]),
      now: fieldText(after[name] ?? PLAN_DEFAULTS[name]),
    })),
  ].filter(({ old, now }) => old !== now)
  return [...ofPlan, ...slotDifferences(before.slots ?? [], after.slots ?? []).flatMap(ofSlot)]
}

function ofSlot({ slot, before, after }: SlotDifference): Difference[] {
  if (before === null) return [{ name: words.added(slot), old: null, now: after && slotText(after) }]
  if (after === null) return [{ name: words.removed(slot), old: slotText(before), now: null }]
  const days = ({ lasts_days }: PlanSlot) => (lasts_days === null ? '–' : String(lasts_days))
  return [
    ...SETTINGS.filter(name => name in after && !isSame(readOf(before, name), readOf(after, name))).map(name => ({
      name: words.setting(slot, SETTING_LABELS[name]),
      old: settingText(name, before),
      now: settingText(name, after),
    })),
    ...(before.lasts_days === after.lasts_days
      ? []
      : [{ name: words.setting(slot, words.lasts), old: days(before), now: days(after) }]),
  ]
}

/** A setting by its name. Old records can lack newer ones. */
function readOf(slot: PlanSlot, name: string): unknown {
  return Object.entries(slot).find(([one]) => one === name)?.[1] ?? null
}

function numberOrNull(value: number | undefined): string | null {
  return value === undefined ? null : String(value)
}

function fieldText(value: PlanFields[keyof PlanFields]): string | null {
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value === 'number') return texts.rates.cardOf(value)
  return value === '' ? null : value
}
