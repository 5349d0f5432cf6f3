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

/**
 * Parses a whole number. In 1 000, 1,000 and 1.000 the separator groups thousands, because units have no fractions.
 *
 * @param empty the value of an empty text
 * @returns the text if it is not a whole number: the service rejects it with a message
 */
export function wholeNumber(text: string, empty: number | '' = ''): number | string {
  const trimmed = text.trim()
  if (trimmed === '') return empty
  const digits = /^\d{1,3}(?:[\s.,'’_]\d{3})+$/.test(trimmed) ? trimmed.replaceAll(/\D/g, '') : trimmed
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return Number.isSafeInteger(value) ? value : trimmed
}
