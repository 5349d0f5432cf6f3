import { TextInput } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'

interface DayFieldProps {
  label: string
  /** 2026-03-01; null is none. */
  value: string | null
  onChange: (day: string | null) => void
  error?: ReactNode
}

/** A day is taken when it is complete: with Enter, or on leaving the field. On its way there it is many other days. */
export function DayField({ label, value, onChange, error }: DayFieldProps) {
  const shown = value ?? ''
  const [text, setText] = useState(shown)
  // "Back" changes the address without a key being pressed here.
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
      // Browsers do not agree on whether Enter in a date submits a form.
      onKeyDown={event => event.key === 'Enter' && apply()}
      error={error}
    />
  )
}
