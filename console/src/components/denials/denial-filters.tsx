import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { DENIAL_REASONS } from '../../../../src/domain/units/reservation.ts'
import { type DenialFilters, messageId, messageType, subject } from '../../model/denial-filters.ts'
import type { Scope } from '../../queries/denials.ts'
import { texts } from '../../texts/texts.ts'
import { ChoiceFilter, ClearFilters, CountryFilter, filtersOf, TextFilter, UserFilter } from '../filter-fields.tsx'
import { Icon } from '../icon.tsx'
import { PeriodFilter } from '../period-filter.tsx'
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
  const at = filtersOf(state, onChange)
  const reasons = scope?.isOwn ? texts.denials.ownReasons : texts.values.denialReasons
  return (
    <search className={classes.filters}>
      <TextFilter words={labels.message} parse={messageId} {...at('id')} />
      {scope === null && <UserFilter {...at('user_id')} />}
      {children}
      <ChoiceFilter words={labels.reason} choices={DENIAL_REASONS} labels={reasons} {...at('reason')} />
      <CountryFilter {...at('country')} />
      <TextFilter words={labels.messageType} parse={messageType} {...at('message_type')} />
      {!scope?.isOwn && <TextFilter words={labels.sender} parse={subject} {...at('sender')} />}
      <PeriodFilter from={state.from} to={state.to} onChange={onChange} />
      <WithoutFilter value={state.without} onRemove={() => onChange({ without: null })} />
      <ClearFilters isFiltered={isFiltered} onClear={onClear} />
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
