import { Button, NativeSelect, Radio, Stack, Text, TextInput } from '@mantine/core'
import type { FormEvent } from 'react'
import type { UserLine } from '../../../../../src/domain/user-file.ts'
import { type GiveInput, ONCE_ENDS, onceEndOf, WHICH } from '../../../model/give-input.ts'
import { texts } from '../../../texts/texts.ts'
import { ReasonField, UNITS_PATTERN, WindowChoice } from '../bulk/bulk-fields.tsx'

const { give, bulk } = texts.manyQuotas

interface FieldsProps {
  users: readonly UserLine[]
  input: GiveInput
  onChange: (input: GiveInput) => void
  onNext: () => void
}

/** How many units each user gets, on which grant, for how long and why. */
export function GiveFields({ users, input, onChange, onNext }: FieldsProps) {
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
            label={give.units}
            inputMode="numeric"
            required
            pattern={UNITS_PATTERN}
            title={bulk.unitsHint}
            maxLength={13}
            value={input.units}
            onChange={event => onChange({ ...input, units: event.currentTarget.value })}
          />
        ) : (
          <Text size="sm">{give.unitsOfFile}</Text>
        )}
        <NativeSelect
          label={give.period}
          value={input.which}
          data={WHICH.map(value => ({ value, label: give.periods[value] }))}
          onChange={event =>
            onChange({ ...input, which: WHICH.find(one => one === event.currentTarget.value) ?? 'month' })
          }
        />
        {input.which === 'once' ? (
          <>
            <Radio.Group
              label={bulk.windows}
              description={give.onceAbout}
              value={onceEndOf(input)}
              onChange={value => onChange({ ...input, onceEnd: value === 'month' ? 'month' : 'pack' })}
            >
              <Stack gap={6} mt={6}>
                {ONCE_ENDS.map(end => (
                  <Radio key={end} value={end} label={give.onceEnds[end]} description={give.onceEndsAbout[end]} />
                ))}
              </Stack>
            </Radio.Group>
            <Text size="sm">{`${give.dateAbout} ${give.repeatSafe}`}</Text>
          </>
        ) : (
          <>
            <WindowChoice
              period={input.which}
              isThisWindowOnly={input.isThisWindowOnly}
              onChange={part => onChange({ ...input, ...part })}
            />
            {input.isThisWindowOnly && <Text size="sm">{`${give.dateAbout} ${give.repeatSafe}`}</Text>}
          </>
        )}
        <ReasonField reason={input.reason} onChange={part => onChange({ ...input, ...part })} />
        <Button type="submit" w="fit-content">
          {give.find}
        </Button>
      </Stack>
    </form>
  )
}
