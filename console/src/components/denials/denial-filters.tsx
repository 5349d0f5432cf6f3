import { Button, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { DENIAL_REASONS } from '../../../../src/domain/reservation.ts'
import {
  type DenialFilters,
  isFiltered,
  messageId,
  messageType,
  NO_FILTERS,
  subject,
} from '../../model/denial-filters.ts'
import { toFieldText, toTimestamp } from '../../model/local-time.ts'
import type { Scope } from '../../queries/denials.ts'
import { texts } from '../../texts/texts.ts'
import { ChoiceFilter, CountryFilter, TextFilter, UserFilter } from '../filter-fields.tsx'
import { Icon } from '../icon.tsx'
import classes from './denial-filters.module.css'

interface FiltersProps {
  state: DenialFilters
  /** Of all users, one can be chosen. */
  scope: Scope
  onChange: (parts: Partial<DenialFilters>) => void
}

/** The filters of the log of denials. */
export function DenialFilterFields({ state, scope, onChange }: FiltersProps) {
  const labels = texts.denials.filters
  const reasons = scope?.isOwn ? texts.denials.ownReasons : texts.values.denialReasons
  return (
    <search className={classes.filters}>
      <TextFilter
        label={labels.message}
        placeholder={labels.allMessages}
        value={state.id}
        parse={messageId}
        error={labels.messageError}
        onApply={id => onChange({ id })}
      />
      {scope === null && <UserFilter value={state.user_id} onApply={user_id => onChange({ user_id })} />}
      <ChoiceFilter
        label={labels.reason}
        all={labels.allReasons}
        choices={DENIAL_REASONS}
        labels={reasons}
        value={state.reason}
        onApply={reason => onChange({ reason })}
      />
      <CountryFilter value={state.country} onApply={country => onChange({ country })} />
      <TextFilter
        label={labels.messageType}
        placeholder={labels.allTypes}
        value={state.message_type}
        parse={messageType}
        error={labels.messageTypeError}
        onApply={message_type => onChange({ message_type })}
      />
      {!scope?.isOwn && (
        <TextFilter
          label={labels.sender}
          placeholder={labels.allSenders}
          value={state.sender}
          parse={subject}
          error={labels.senderError}
          onApply={sender => onChange({ sender })}
        />
      )}
      <TimeFilter label={labels.from} value={state.from} onApply={from => onChange({ from })} />
      <TimeFilter label={labels.to} value={state.to} onApply={to => onChange({ to })} />
      <WithoutFilter value={state.without} onRemove={() => onChange({ without: null })} />
      {isFiltered(state) && (
        <Button variant="subtle" size="xs" onClick={() => onChange(NO_FILTERS)}>
          {labels.clear}
        </Button>
      )}
    </search>
  )
}

/** What the messages are without, as a link has said; it can be removed. */
function WithoutFilter({ value, onRemove }: { value: DenialFilters['without']; onRemove: () => void }) {
  if (value === null) return null
  const label = texts.denials.without[value]
  return (
    <Button
      variant="light"
      size="xs"
      rightSection={<Icon name="close" size={14} />}
      aria-label={texts.denials.filters.remove(label)}
      onClick={onRemove}
    >
      {label}
    </Button>
  )
}

interface TimeFilterProps {
  label: string
  /** A timestamp; null for none. */
  value: string | null
  onApply: (at: string | null) => void
}

/** A time in the user's time zone, applied on Enter or blur, because a half-typed time is already another valid time. */
function TimeFilter({ label, value, onApply }: TimeFilterProps) {
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
