import { NativeSelect, Text } from '@mantine/core'
import type { UserLine } from '../../../../../src/domain/quotas/user-file.ts'
import { Form } from '../../../components/form.tsx'
import { RadioField } from '../../../components/radio-field.tsx'
import { type GiveInput, ONCE_ENDS, onceEndOf, WHICH } from '../../../model/give-input.ts'
import { texts } from '../../../texts/texts.ts'
import { ReasonField, UnitsField, WindowChoice } from '../bulk/bulk-fields.tsx'

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
  return (
    <Form onSubmit={onNext} submit={give.find} beside={null} maw="32rem">
      {needsUnits ? (
        <UnitsField label={give.units} value={input.units} onChange={units => onChange({ ...input, units })} />
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
          <RadioField
            label={bulk.windows}
            about={give.onceAbout}
            value={onceEndOf(input)}
            onChange={onceEnd => onChange({ ...input, onceEnd })}
            choices={ONCE_ENDS}
            labels={give.onceEnds}
            abouts={give.onceEndsAbout}
          />
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
    </Form>
  )
}
