import { TextInput, type TextInputProps } from '@mantine/core'
import type { ReactNode } from 'react'

export interface FieldProps<Value> {
  label: string
  /** A short description. */
  about?: ReactNode
  value: Value
  onChange: (value: Value) => void
  /** The error message; undefined if there is none. */
  error?: ReactNode
}

interface TextFieldProps extends FieldProps<string>, Omit<TextInputProps, keyof FieldProps<string>> {
  isNumber?: boolean
}

/** A line of text, or a number as the user types it. */
export function TextField({ about, onChange, isNumber = false, ...more }: TextFieldProps) {
  return (
    <TextInput
      description={about}
      onChange={event => onChange(event.currentTarget.value)}
      autoComplete="off"
      {...(isNumber ? { inputMode: 'numeric' } : { dir: 'auto' })}
      {...more}
    />
  )
}
