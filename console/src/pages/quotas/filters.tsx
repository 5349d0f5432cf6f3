import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type FormEvent, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { isCountry } from '../../../../src/domain/country.ts'
import { isSortedByUse } from '../../components/quota-labels.ts'
import { STATUS_LABELS } from '../../components/status-badge.tsx'
import { uint } from '../../components/url-state.ts'
import { texts } from '../../texts/texts.ts'
import {
  ENDS_WITHIN,
  filterCount,
  KINDS,
  LIST_STATE,
  type ListState,
  PAGE_SIZES,
  STATUSES,
  UNFILTERED,
} from './list-state.ts'
import classes from './quotas.module.css'

interface FiltersProps {
  state: ListState
  onChange: (parts: Partial<ListState>) => void
}

const { filters } = texts.quotas

/** Filters and page size of the quota list. */
export function QuotaFilters({ state, onChange }: FiltersProps) {
  const { user_id, name, external_ref, country, message_type, page_size } = state
  const [isOpen, setOpen] = useState(false)
  return (
    <search className={classes.filters} data-open={isOpen || undefined}>
      {/* On narrow screens the fields would push the list out of view. */}
      <Button
        className={classes.toggle ?? ''}
        variant="default"
        size="xs"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {filters.toggle(filterCount(state))}
      </Button>
      <TextFilter
        label={filters.user}
        placeholder={filters.allUsers}
        value={user_id === null ? '' : String(user_id)}
        error={text => (text !== '' && uint(text) === null ? filters.notAUser : null)}
        isNumber
        onApply={text => onChange(userChange(uint(text), state))}
      />
      <TextFilter
        label={filters.name}
        placeholder={filters.nameHint}
        value={name ?? ''}
        onApply={text => onChange({ name: text === '' ? null : text })}
      />
      <TextFilter
        label={filters.reference}
        placeholder={filters.referenceHint}
        value={external_ref ?? ''}
        onApply={text => onChange({ external_ref: text === '' ? null : text })}
      />
      <Choices state={state} onChange={onChange} />
      <TextFilter
        label={filters.country}
        placeholder={filters.countryHint}
        value={country ?? ''}
        error={text => (text !== '' && !isCountry(text.toUpperCase()) ? filters.notACountry : null)}
        onApply={text => onChange({ country: text === '' ? null : text.toUpperCase() })}
      />
      <TextFilter
        label={filters.messageType}
        placeholder={filters.messageTypeHint}
        value={message_type ?? ''}
        error={text => (text !== '' && LIST_STATE.message_type(text) === null ? filters.notAType : null)}
        onApply={text => onChange({ message_type: text === '' ? null : text })}
      />
      <NativeSelect
        label={filters.rows}
        size="xs"
        value={String(page_size)}
        data={[...new Set([...PAGE_SIZES, page_size])].sort((one, other) => one - other).map(String)}
        onChange={event => onChange({ page_size: Number(event.currentTarget.value) })}
      />
      {user_id !== null && (
        <Button component={Link} href={`/users/${user_id}`} variant="default" size="xs">
          {filters.openUser(user_id)}
        </Button>
      )}
      {filterCount(state) > 0 && (
        <Button variant="subtle" size="xs" onClick={() => onChange(UNFILTERED)}>
          {filters.clear}
        </Button>
      )}
    </search>
  )
}

function Choices({ state: { status, kind, ends_within }, onChange }: FiltersProps) {
  return (
    <>
      <NativeSelect
        label={filters.status}
        size="xs"
        value={status ?? ''}
        data={[
          { value: '', label: filters.allStatuses },
          ...STATUSES.map(value => ({ value, label: STATUS_LABELS[value] })),
        ]}
        onChange={event => onChange({ status: STATUSES.find(value => value === event.currentTarget.value) ?? null })}
      />
      <NativeSelect
        label={filters.kind}
        size="xs"
        value={kind ?? ''}
        data={[{ value: '', label: filters.allKinds }, ...KINDS.map(value => ({ value, label: filters.kinds[value] }))]}
        onChange={event => onChange({ kind: KINDS.find(value => value === event.currentTarget.value) ?? null })}
      />
      <NativeSelect
        label={filters.ends}
        size="xs"
        value={ends_within ?? ''}
        data={[
          { value: '', label: filters.anyTime },
          ...ENDS_WITHIN.map(value => ({ value, label: filters.endsWithin[value] })),
        ]}
        onChange={event =>
          onChange({ ends_within: ENDS_WITHIN.find(value => value === event.currentTarget.value) ?? null })
        }
      />
    </>
  )
}

/** Sorting by usage needs a single user. */
function userChange(user_id: number | null, { sort }: ListState): Partial<ListState> {
  const mustResetSort = user_id === null && isSortedByUse(sort)
  return { user_id, ...(mustResetSort ? { sort: UNFILTERED.sort } : {}) }
}

interface TextFilterProps {
  label: string
  placeholder: string
  value: string
  error?: (text: string) => string | null
  isNumber?: boolean
  onApply: (text: string) => void
}

/** A pause in typing that applies a filter. */
const PAUSE_MS = 800

/** Applies its text on Enter, blur or a pause, so that the list is not read for each key. */
function TextFilter({ label, placeholder, value, error, isNumber = false, onApply }: TextFilterProps) {
  const [text, setText] = useState(value)
  // The back button changes the value without input here.
  // A space at the end stays: the next word may follow a pause.
  useEffect(() => setText(current => (current.trim() === value ? current : value)), [value])
  const trimmed = text.trim()
  const message = error?.(trimmed) ?? null

  function apply(event?: FormEvent) {
    event?.preventDefault()
    if (message === null && trimmed !== value) onApply(trimmed)
  }
  const applyAfterPause = useDebouncedCallback(() => apply(), PAUSE_MS)
  return (
    <form onSubmit={apply}>
      <TextInput
        label={label}
        size="xs"
        placeholder={placeholder}
        value={text}
        maxLength={120}
        onChange={event => {
          setText(event.currentTarget.value)
          applyAfterPause()
        }}
        onBlur={() => apply()}
        error={message}
        {...(isNumber ? { inputMode: 'numeric' } : {})}
      />
    </form>
  )
}
