import { TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'

interface DayFieldProps {
  label: string
  /** A date such as 2026-03-01; null for none. */
  value: string | null
  onChange: (day: string | null) => void
  error?: ReactNode
}

/** A date field that applies its value on Enter or blur, because a half-typed date is already another valid date. */
export function DayField({ label, value, onChange, error }: DayFieldProps) {
  const shown = value ?? ''
  const [text, setText] = useState(shown)
  // The back button changes the value without input here.
  useEffect(() => setText(shown), [shown])

  function apply() {
    if (text !== shown) onChange(text === '' ? null : text)
  }
  return (
    <TextInput
      type="date"
      label={label}
      size="xs"
      value={text}
      max="9999-12-31"
      onChange={event => setText(event.currentTarget.value)}
      onBlur={apply}
      // Browsers differ in whether Enter in a date field submits the form.
      onKeyDown={event => event.key === 'Enter' && apply()}
      error={error}
    />
  )
}
