import { Group, NativeSelect, SegmentedControl } from '@mantine/core'
import { DayField } from '../../../components/day-field.tsx'
import { RadioField } from '../../../components/radio-field.tsx'
import { type FieldProps, TextField } from '../../../components/text-field.tsx'
import type { BulkAction, BulkInput } from '../../../model/bulk-change.ts'
import { texts } from '../../../texts/texts.ts'

const { bulk } = texts.manyQuotas

/** A whole number from 1, as `wholeNumber` reads it: also 1,000 and 1.000. */
const UNITS_PATTERN = String.raw`\s*[1-9][\d\s.,'’_]*`

interface FieldsProps {
  input: BulkInput
  onChange: (part: Partial<BulkInput>) => void
}

/** What a change of many quotas needs to know. */
export function BulkFields({ action, ...props }: FieldsProps & { action: BulkAction }) {
  return action === 'extend' ? <EndFields {...props} /> : <UnitFields {...props} />
}

function UnitFields({ input, onChange }: FieldsProps) {
  const { units, isDecrease, isThisWindowOnly, reason } = input
  return (
    <>
      <SegmentedControl
        aria-label={bulk.direction}
        value={isDecrease ? 'remove' : 'add'}
        data={[
          { value: 'add', label: bulk.add },
          { value: 'remove', label: bulk.remove },
        ]}
        onChange={value => onChange({ isDecrease: value === 'remove' })}
      />
      <UnitsField label={bulk.units} value={units} onChange={text => onChange({ units: text })} />
      {!isDecrease && <WindowChoice isThisWindowOnly={isThisWindowOnly} onChange={onChange} />}
      <ReasonField reason={reason} onChange={onChange} />
    </>
  )
}

/** A number of units, which the browser checks. */
export function UnitsField(props: FieldProps<string>) {
  return <TextField {...props} required isNumber pattern={UNITS_PATTERN} title={bulk.unitsHint} maxLength={13} />
}

interface WindowChoiceProps extends Pick<BulkInput, 'isThisWindowOnly'>, Omit<FieldsProps, 'input'> {
  /** Of the quotas, if it is the same for all. */
  period?: keyof typeof bulk.thisWindow
}

/** Whether units are added for the current window only, or to the limit. */
export function WindowChoice({ isThisWindowOnly, onChange, period = 'any' }: WindowChoiceProps) {
  return (
    <RadioField
      label={bulk.windows}
      value={isThisWindowOnly ? 'this' : 'every'}
      onChange={value => onChange({ isThisWindowOnly: value === 'this' })}
      choices={['every', 'this']}
      labels={{ every: bulk.everyWindow, this: bulk.thisWindow[period] }}
      abouts={{ every: bulk.everyWindowAbout, this: bulk.thisWindowAbout }}
    />
  )
}

export function ReasonField({ reason, onChange }: Pick<BulkInput, 'reason'> & Omit<FieldsProps, 'input'>) {
  return (
    <TextField
      label={bulk.reason}
      about={bulk.reasonAbout}
      required
      maxLength={500}
      value={reason}
      onChange={text => onChange({ reason: text })}
    />
  )
}

const UNITS = ['D', 'W', 'M', 'Y'] as const

function EndFields({ input: { end, by, unit, day }, onChange }: FieldsProps) {
  return (
    <>
      <SegmentedControl
        aria-label={bulk.end}
        value={end}
        data={(['by', 'to', 'never'] as const).map(value => ({ value, label: bulk.ends[value] }))}
        onChange={value => onChange({ end: value })}
      />
      {end === 'by' && (
        <Group gap="xs" align="flex-end">
          <TextField
            label={bulk.by}
            isNumber
            required
            pattern="[1-9][0-9]{0,2}"
            title={bulk.byHint}
            w="7rem"
            value={by}
            onChange={text => onChange({ by: text })}
          />
          <NativeSelect
            aria-label={bulk.unit}
            value={unit}
            data={UNITS.map(value => ({ value, label: bulk.durations[value] }))}
            onChange={event => onChange({ unit: UNITS.find(one => one === event.currentTarget.value) ?? 'M' })}
          />
        </Group>
      )}
      {end === 'to' && (
        <DayField
          label={bulk.day}
          value={day}
          onChange={next => onChange({ day: next })}
          error={day === null ? bulk.dayHint : undefined}
        />
      )}
    </>
  )
}
