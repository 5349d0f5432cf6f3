import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { DENIAL_REASONS } from '../../../../src/domain/reservation.ts'
import classes from '../filters.module.css'
import { DENIAL_REASON_LABELS } from './denial-labels.ts'
import { type DenialsState, messageId } from './denials-state.ts'

interface FiltersProps {
  state: DenialsState
  onChange: (parts: Partial<DenialsState>) => void
}

export function DenialFilters({ state: { reason, id }, onChange }: FiltersProps) {
  return (
    <search className={classes.filters}>
      <NativeSelect
        label="Reason"
        size="xs"
        value={reason ?? ''}
        data={[
          { value: '', label: 'All reasons' },
          ...DENIAL_REASONS.map(value => ({ value, label: DENIAL_REASON_LABELS[value] })),
        ]}
        onChange={({ currentTarget: { value } }) =>
          onChange({ reason: DENIAL_REASONS.find(one => one === value) ?? null })
        }
      />
      <MessageFilter id={id} onChange={value => onChange({ id: value })} />
      {(reason !== null || id !== null) && (
        <Button variant="subtle" size="xs" onClick={() => onChange({ reason: null, id: null })}>
          Clear filters
        </Button>
      )}
    </search>
  )
}

/** Applies the message id on Enter or blur. */
function MessageFilter({ id, onChange }: { id: string | null; onChange: (id: string | null) => void }) {
  const shown = id ?? ''
  const [text, setText] = useState(shown)
  // The back button changes the value without input here.
  useEffect(() => setText(shown), [shown])
  const trimmed = text.trim()
  const isInvalid = trimmed !== '' && messageId(trimmed) === null

  function apply(event?: FormEvent) {
    event?.preventDefault()
    if (!isInvalid && trimmed !== shown) onChange(messageId(trimmed))
  }
  return (
    <form onSubmit={apply}>
      <TextInput
        label="Message id"
        size="xs"
        placeholder="All messages"
        autoComplete="off"
        value={text}
        onChange={event => setText(event.currentTarget.value)}
        onBlur={() => apply()}
        error={isInvalid && 'Up to 128 letters, digits and . _ : -, the first a letter or digit'}
      />
    </form>
  )
}
