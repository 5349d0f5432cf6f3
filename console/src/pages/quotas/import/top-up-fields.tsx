import { Button, NativeSelect, Radio, Stack, Text, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import type { UserLine } from '../../../../../src/domain/user-file.ts'
import { ONCE_ENDS, onceEndOf, type TopUpInput, WHICH } from '../../../model/top-up-input.ts'
import { texts } from '../../../texts/texts.ts'
import { ReasonField, UNITS_PATTERN, WindowChoice } from '../bulk/bulk-fields.tsx'

const { topUp, bulk } = texts.manyQuotas

interface FieldsProps {
  users: readonly UserLine[]
  input: TopUpInput
  onChange: (input: TopUpInput) => void
  onNext: () => void
}

/** How many units each user gets, on which grant, for how long and why. */
export function TopUpFields({ users, input, onChange, onNext }: FieldsProps) {
  const needsUnits = users.some(({ units }) => units === null)
  function submit(event: FormEvent) {
    event.preventDefault()
    onNext()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md" maw="32rem">
        {needsUnits ? (
          <TextInput
            label={topUp.units}
            inputMode="numeric"
            required
            pattern={UNITS_PATTERN}
            title={bulk.unitsHint}
            maxLength={13}
            value={input.units}
            onChange={event => onChange({ ...input, units: event.currentTarget.value })}
          />
        ) : (
          <Text size="sm">{topUp.unitsOfFile}</Text>
        )}
        <NativeSelect
          label={topUp.period}
          value={input.which}
          data={WHICH.map(value => ({ value, label: topUp.periods[value] }))}
          onChange={event =>
            onChange({ ...input, which: WHICH.find(one => one === event.currentTarget.value) ?? 'month' })
          }
        />
        {input.which === 'once' ? (
          <>
            <Radio.Group
              label={bulk.windows}
              description={topUp.onceAbout}
              value={onceEndOf(input)}
              onChange={value => onChange({ ...input, onceEnd: value === 'month' ? 'month' : 'pack' })}
            >
              <Stack gap={6} mt={6}>
                {ONCE_ENDS.map(end => (
                  <Radio key={end} value={end} label={topUp.onceEnds[end]} description={topUp.onceEndsAbout[end]} />
                ))}
              </Stack>
            </Radio.Group>
            <Text size="sm">{`${topUp.dateAbout} ${topUp.repeatSafe}`}</Text>
          </>
        ) : (
          <>
            <WindowChoice
              period={input.which}
              isThisWindowOnly={input.isThisWindowOnly}
              onChange={part => onChange({ ...input, ...part })}
            />
            {input.isThisWindowOnly && <Text size="sm">{`${topUp.dateAbout} ${topUp.repeatSafe}`}</Text>}
          </>
        )}
        <ReasonField reason={input.reason} onChange={part => onChange({ ...input, ...part })} />
        <Button type="submit" w="fit-content">
          {topUp.find}
        </Button>
      </Stack>
    </form>
  )
}
