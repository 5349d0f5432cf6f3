import { Button, NativeSelect } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { addDays, dayOf } from '../../local-time.ts'
import { texts } from '../../texts/texts.ts'
import { DayField } from '../day-field.tsx'
import type { FieldErrors } from '../form-errors.ts'
import { day, oneOf, type StateOf } from '../url-state.ts'
import classes from './usage.module.css'

/** A counted quantity. */
export type Measure = Exclude<keyof Api['Usage']['total'], 'denied_by_reason'>

export const MEASURES = ['committed', 'refunded', 'denied', 'unfunded'] as const satisfies readonly Measure[]
const GROUPS = ['country', 'message_type', 'quota'] as const
export type Group = (typeof GROUPS)[number]
const DAYS = ['7', '30', '90'] as const

/** URL state of the usage report. A custom period (`from`, `to`) takes precedence over `days`. */
export const USAGE_STATE = {
  days: oneOf(DAYS, '30'),
  from: day,
  to: day,
  measure: oneOf(MEASURES, 'committed'),
  group_by: oneOf(GROUPS, null),
  as: oneOf(['chart', 'table'], 'chart'),
}
export type UsageState = StateOf<typeof USAGE_STATE>

/** The first and last shown day, inclusive. */
interface Period {
  first: string
  last: string
}

/** @param now the time of the service; its day is the last one unless `to` is set */
export function periodOf({ days, from, to }: UsageState, now: string): Period {
  const last = to ?? dayOf(now)
  return { first: from ?? addDays(last, 1 - Number(days)), last }
}

const CUSTOM = 'custom'

interface ControlsProps {
  state: UsageState
  period: Period
  errors: FieldErrors<'from' | 'to' | 'interval' | 'group_by'>
  onChange: (parts: Partial<UsageState>) => void
}

/** Period, grouping, and chart or table. */
export function UsageControls({ state, period, errors, onChange }: ControlsProps) {
  const { days, from, to, group_by, as } = state
  const { usage } = texts
  const isCustomPeriod = from !== null || to !== null
  return (
    <search className={classes.controls} aria-label={usage.title}>
      <NativeSelect
        label={usage.period}
        size="xs"
        value={isCustomPeriod ? CUSTOM : days}
        data={[
          ...DAYS.map(value => ({ value, label: usage.lastDays(value) })),
          { value: CUSTOM, label: usage.customPeriod },
        ]}
        onChange={({ currentTarget: { value } }) =>
          value === CUSTOM
            ? onChange({ from: period.first, to: period.last })
            : onChange({ days: DAYS.find(known => known === value) ?? '30', from: null, to: null })
        }
        error={errors.at('interval')}
      />
      {isCustomPeriod && (
        <>
          <DayField
            label={usage.from}
            value={period.first}
            onChange={value => onChange({ from: value })}
            error={errors.at('from')}
          />
          <DayField
            label={usage.to}
            value={period.last}
            onChange={value => onChange({ to: value })}
            error={errors.at('to')}
          />
        </>
      )}
      <NativeSelect
        label={usage.groupBy}
        size="xs"
        value={group_by ?? ''}
        data={[{ value: '', label: usage.noGroup }, ...GROUPS.map(value => ({ value, label: usage.groups[value] }))]}
        onChange={event => onChange({ group_by: GROUPS.find(value => value === event.currentTarget.value) ?? null })}
        error={errors.at('group_by')}
      />
      <Button
        variant="default"
        size="xs"
        className={classes.as ?? ''}
        onClick={() => onChange({ as: as === 'chart' ? 'table' : 'chart' })}
      >
        {as === 'chart' ? usage.showTable : usage.showChart}
      </Button>
    </search>
  )
}
