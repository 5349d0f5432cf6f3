import { TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { toFieldText, toTimestamp } from '../model/local-time.ts'

interface TimeFilterProps {
  label: string
  /** A timestamp; null for none. */
  value: string | null
  onApply: (at: string | null) => void
}

/** A time in the user's time zone, applied on Enter or blur, because a half-typed time is already another valid time. */
export function TimeFilter({ label, value, onApply }: TimeFilterProps) {
  const shown = toFieldText(value)
  const [text, setText] = useState(shown)
  // The back button changes the value without input here.
  useEffect(() => setText(shown), [shown])

  function apply() {
    if (text !== shown) onApply(text === '' ? null : toTimestamp(text))
  }
  return (
    <TextInput
      type="datetime-local"
      label={label}
      size="xs"
      value={text}
      max="9999-12-31T23:59"
      onChange={event => setText(event.currentTarget.value)}
      onBlur={apply}
      // Browsers differ in whether Enter in a time field submits the form.
      onKeyDown={event => event.key === 'Enter' && apply()}
    />
  )
}
