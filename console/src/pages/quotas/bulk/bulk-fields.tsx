import { Group, NativeSelect, Radio, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { DayField } from '../../../components/day-field.tsx'
import type { BulkAction, BulkInput } from '../../../model/bulk-change.ts'
import { texts } from '../../../texts/texts.ts'

const { bulk } = texts.manyQuotas

/** A whole number from 1, as `wholeNumber` reads it: also 1,000 and 1.000. */
export const UNITS_PATTERN = String.raw`\s*[1-9][\d\s.,'’_]*`

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
      <TextInput
        label={bulk.units}
        inputMode="numeric"
        required
        pattern={UNITS_PATTERN}
        title={bulk.unitsHint}
        maxLength={13}
        value={units}
        onChange={event => onChange({ units: event.currentTarget.value })}
      />
      {!isDecrease && <WindowChoice isThisWindowOnly={isThisWindowOnly} onChange={onChange} />}
      <ReasonField reason={reason} onChange={onChange} />
    </>
  )
}

interface WindowChoiceProps extends Pick<BulkInput, 'isThisWindowOnly'>, Omit<FieldsProps, 'input'> {
  /** Of the quotas, if it is the same for all. */
  period?: keyof typeof bulk.thisWindow
}

/** Whether units are added for the current window only, or to the limit. */
export function WindowChoice({ isThisWindowOnly, onChange, period = 'any' }: WindowChoiceProps) {
  return (
    <Radio.Group
      label={bulk.windows}
      value={isThisWindowOnly ? 'this' : 'every'}
      onChange={value => onChange({ isThisWindowOnly: value === 'this' })}
    >
      <Stack gap={6} mt={6}>
        <Radio value="every" label={bulk.everyWindow} description={bulk.everyWindowAbout} />
        <Radio value="this" label={bulk.thisWindow[period]} description={bulk.thisWindowAbout} />
      </Stack>
    </Radio.Group>
  )
}

export function ReasonField({ reason, onChange }: Pick<BulkInput, 'reason'> & Omit<FieldsProps, 'input'>) {
  return (
    <TextInput
      label={bulk.reason}
      description={bulk.reasonAbout}
      required
      maxLength={500}
      value={reason}
      onChange={event => onChange({ reason: event.currentTarget.value })}
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
          <TextInput
            label={bulk.by}
            inputMode="numeric"
            required
            pattern="[1-9][0-9]{0,2}"
            title={bulk.byHint}
            w="7rem"
            value={by}
            onChange={event => onChange({ by: event.currentTarget.value })}
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
