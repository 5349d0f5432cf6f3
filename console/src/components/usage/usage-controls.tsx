import { Button, NativeSelect } from '@mantine/core'
import { DayField } from '../day-field.tsx'
import type { FieldErrors } from '../field-errors.ts'
import classes from './usage.module.css'
import { GROUP_LABELS } from './usage-labels.ts'
import { GROUPS, type Period, type UsageState } from './usage-state.ts'

const CUSTOM = 'custom'
const DAYS = ['7', '30', '90'] as const

interface ControlsProps {
  state: UsageState
  period: Period
  errors: FieldErrors<'from' | 'to' | 'interval' | 'group_by'>
  onChange: (parts: Partial<UsageState>) => void
}

/** Period, grouping, and chart or table. */
export function UsageControls({ state, period, errors, onChange }: ControlsProps) {
  const { days, from, to, group_by, as } = state
  const isCustomPeriod = from !== null || to !== null
  return (
    <search className={classes.controls} aria-label="Usage">
      <NativeSelect
        label="Period"
        size="xs"
        value={isCustomPeriod ? CUSTOM : days}
        data={[...DAYS.map(value => ({ value, label: `Last ${value} days` })), { value: CUSTOM, label: 'Custom' }]}
        onChange={({ currentTarget: { value } }) =>
          value === CUSTOM
            ? onChange({ from: period.first, to: period.last })
            : onChange({ days: DAYS.find(known => known === value) ?? '90', from: null, to: null })
        }
        error={errors.at('interval')}
      />
      {isCustomPeriod && (
        <>
          <DayField
            label="From"
            value={period.first}
            onChange={day => onChange({ from: day })}
            error={errors.at('from')}
          />
          <DayField label="To" value={period.last} onChange={day => onChange({ to: day })} error={errors.at('to')} />
        </>
      )}
      <NativeSelect
        label="Group by"
        size="xs"
        value={group_by ?? ''}
        data={[{ value: '', label: 'None' }, ...GROUPS.map(value => ({ value, label: GROUP_LABELS[value] }))]}
        onChange={event => onChange({ group_by: GROUPS.find(value => value === event.currentTarget.value) ?? null })}
        error={errors.at('group_by')}
      />
      <Button
        variant="default"
        size="xs"
        className={classes.as ?? ''}
        onClick={() => onChange({ as: as === 'chart' ? 'table' : 'chart' })}
      >
        {as === 'chart' ? 'Show as table' : 'Show as chart'}
      </Button>
    </search>
  )
}
