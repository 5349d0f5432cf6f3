import { TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'

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

  function apply(event?: FormEvent) {
    event?.preventDefault()
    if (text !== shown) onChange(text === '' ? null : text)
  }
  return (
    <form onSubmit={apply}>
      <TextInput
        type="date"
        label={label}
        size="xs"
        value={text}
        max="9999-12-31"
        onChange={event => setText(event.currentTarget.value)}
        onBlur={() => apply()}
        error={error}
      />
    </form>
  )
}
