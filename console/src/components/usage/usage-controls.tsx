import { Button, NativeSelect } from '@mantine/core'
import { DAYS, GROUPS, PERIODS, type Period, THIS_MONTH, type UsageState } from '../../model/usage-report.ts'
import { texts } from '../../texts/texts.ts'
import { DayField } from '../day-field.tsx'
import type { FieldErrors } from '../form-errors.ts'
import classes from './usage.module.css'

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
          { value: THIS_MONTH, label: usage.thisMonth },
          { value: CUSTOM, label: usage.customPeriod },
        ]}
        onChange={({ currentTarget: { value } }) =>
          value === CUSTOM
            ? onChange({ from: period.first, to: period.last })
            : onChange({ days: PERIODS.find(known => known === value) ?? '30', from: null, to: null })
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
        className={classes.as}
        onClick={() => onChange({ as: as === 'chart' ? 'table' : 'chart' })}
      >
        {as === 'chart' ? usage.showTable : usage.showChart}
      </Button>
    </search>
  )
}
