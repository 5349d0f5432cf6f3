import { Button, NativeSelect } from '@mantine/core'
import { DayField } from '../day-field.tsx'
import type { FieldFaults } from '../field-faults.ts'
import classes from './usage.module.css'
import { GROUPS, type Period, type UsageState } from './usage-state.ts'
import { GROUP_WORDS } from './usage-words.ts'

const OWN = 'own'
const DAYS = ['7', '30', '90'] as const

interface ControlsProps {
  state: UsageState
  period: Period
  faults: FieldFaults<'from' | 'to' | 'interval' | 'group_by'>
  onChange: (parts: Partial<UsageState>) => void
}

/** Which days, how they are divided, and whether to see or to read them. */
export function UsageControls({ state, period, faults, onChange }: ControlsProps) {
  const { days, from, to, group_by, as } = state
  const hasOwnPeriod = from !== null || to !== null
  return (
    <search className={classes.controls} aria-label="Usage">
      <NativeSelect
        label="Period"
        size="xs"
        value={hasOwnPeriod ? OWN : days}
        data={[...DAYS.map(value => ({ value, label: `Last ${value} days` })), { value: OWN, label: 'From … to …' }]}
        onChange={({ currentTarget: { value } }) =>
          value === OWN
            ? onChange({ from: period.first, to: period.last })
            : onChange({ days: DAYS.find(known => known === value) ?? '90', from: null, to: null })
        }
        error={faults.at('interval')}
      />
      {hasOwnPeriod && (
        <>
          <DayField
            label="From"
            value={period.first}
            onChange={day => onChange({ from: day })}
            error={faults.at('from')}
          />
          <DayField label="To" value={period.last} onChange={day => onChange({ to: day })} error={faults.at('to')} />
        </>
      )}
      <NativeSelect
        label="Group by"
        size="xs"
        value={group_by ?? ''}
        data={[{ value: '', label: 'Nothing' }, ...GROUPS.map(value => ({ value, label: GROUP_WORDS[value] }))]}
        onChange={event => onChange({ group_by: GROUPS.find(value => value === event.currentTarget.value) ?? null })}
        error={faults.at('group_by')}
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
