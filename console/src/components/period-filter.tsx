import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { toFieldText, toTimestamp } from '../model/local-time.ts'
import { DAY_RANGES, type DayRange, dayRange, dayRangeOf } from '../model/time-ranges.ts'
import { texts } from '../texts/texts.ts'
import { ChoiceFilter, PAUSE_MS } from './filter-fields.tsx'

/** Timestamps; null for no bound. */
interface Times {
  from: string | null
  to: string | null
}

interface PeriodFilterProps extends Times {
  onChange: (times: Partial<Times>) => void
}

/** Takes whole days by their name, or two times that are typed. */
export function PeriodFilter({ from, to, onChange }: PeriodFilterProps) {
  const words = texts.components.periodFilter
  const range = dayRangeOf({ from, to }, new Date())
  const isOther = range === null && (from !== null || to !== null)
  return (
    <>
      <ChoiceFilter
        words={words}
        choices={[...DAY_RANGES, 'other'] as const}
        labels={words.names}
        value={isOther ? 'other' : range}
        onApply={name => onChange(timesOf(name, from))}
      />
      {isOther && (
        <>
          <TimeFilter label={words.from} value={from} onApply={value => onChange({ from: value })} />
          <TimeFilter label={words.to} value={to} onApply={value => onChange({ to: value })} />
        </>
      )}
    </>
  )
}

/** @param from what was chosen before, with which typed times begin */
function timesOf(name: DayRange | 'other' | null, from: string | null): Times {
  if (name === null) return { from: null, to: null }
  const { from: today } = dayRange('today', new Date())
  return name === 'other' ? { from: from ?? today, to: null } : dayRange(name, new Date())
}

interface TimeFilterProps {
  label: string
  /** A timestamp; null for none. */
  value: string | null
  onApply: (at: string | null) => void
}

/** A year that is typed digit by digit is another valid year before its last one. */
const FIRST_WHOLE_YEAR = '1000'

/** A time in the user's time zone, applied on Enter, blur or a pause. */
function TimeFilter({ label, value, onApply }: TimeFilterProps) {
  const shown = toFieldText(value)
  const [text, setText] = useState(shown)
  // The back button changes the value without input here.
  useEffect(() => setText(shown), [shown])

  function apply() {
    if (text !== shown) onApply(text === '' ? null : toTimestamp(text))
  }
  const applyAfterPause = useDebouncedCallback(() => text >= FIRST_WHOLE_YEAR && apply(), PAUSE_MS)
  return (
    <TextInput
      type="datetime-local"
      label={label}
      size="xs"
      value={text}
      max="9999-12-31T23:59"
      onChange={event => {
        setText(event.currentTarget.value)
        applyAfterPause()
      }}
      onBlur={apply}
      // Browsers differ in whether Enter in a time field submits the form.
      onKeyDown={event => event.key === 'Enter' && apply()}
    />
  )
}
