import { TextInput } from '@mantine/core'
import type { ReactNode } from 'react'

export interface FieldProps<Value> {
  label: string
  /** A short description. */
  about?: ReactNode
  value: Value
  onChange: (value: Value) => void
  /** The error message; undefined if there is none. */
  error: ReactNode
}

interface TextFieldProps extends FieldProps<string> {
  isRequired?: boolean
  isDisabled?: boolean
  isNumber?: boolean
}

/** A line of text, or a number as the user types it. */
export function TextField({ label, about, value, onChange, error, isNumber = false, ...more }: TextFieldProps) {
  const { isRequired = false, isDisabled = false } = more
  return (
    <TextInput
      label={label}
      description={about}
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
      error={error}
      required={isRequired}
      disabled={isDisabled}
      autoComplete="off"
      {...(isNumber ? { inputMode: 'numeric' } : { dir: 'auto' })}
    />
  )
}
