import { Radio, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import type { FieldProps } from './text-field.tsx'

interface RadioFieldProps<Value extends string> extends FieldProps<Value> {
  choices: readonly Value[]
  labels: Readonly<Record<Value, ReactNode>>
  abouts?: Readonly<Record<Value, ReactNode>>
}

/** One of a few. */
export function RadioField<Value extends string>(props: RadioFieldProps<Value>) {
  const { label, about, value, onChange, error, choices, labels, abouts } = props
  return (
    <Radio.Group label={label} description={about} value={value} onChange={onChange} error={error}>
      <Stack gap={6} mt={6}>
        {choices.map(choice => (
          <Radio key={choice} value={choice} label={labels[choice]} description={abouts?.[choice]} />
        ))}
      </Stack>
    </Radio.Group>
  )
}
