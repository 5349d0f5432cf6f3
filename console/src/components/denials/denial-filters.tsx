import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { DENIAL_REASONS } from '../../../../src/domain/reservation.ts'
import { type DenialFilters, messageId, messageType, subject } from '../../model/denial-filters.ts'
import type { Scope } from '../../queries/denials.ts'
import { texts } from '../../texts/texts.ts'
import { ChoiceFilter, CountryFilter, TextFilter, UserFilter } from '../filter-fields.tsx'
import { Icon } from '../icon.tsx'
import { PeriodFilter } from '../time-filter.tsx'
import classes from './denial-filters.module.css'

interface FiltersProps {
  state: DenialFilters
  /** Of all users, one can be chosen. */
  scope: Scope
  onChange: (parts: Partial<DenialFilters>) => void
  /** A filter that the list has beside those of the log. */
  children?: ReactNode
  /** Whether something is filtered. */
  isFiltered: boolean
  onClear: () => void
}

/** The filters of the log of denials. */
export function DenialFilterFields({ state, scope, onChange, children, isFiltered, onClear }: FiltersProps) {
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
      {children}
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
      <PeriodFilter from={state.from} to={state.to} onChange={onChange} />
      <WithoutFilter value={state.without} onRemove={() => onChange({ without: null })} />
      {isFiltered && (
        <Button variant="subtle" size="xs" onClick={onClear}>
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
