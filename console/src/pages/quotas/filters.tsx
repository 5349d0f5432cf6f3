import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { Link } from 'wouter'
import classes from '../../components/filters.module.css'
import { KIND_LABELS } from '../../components/quota-labels.ts'
import { STATUS_LABELS } from '../../components/status-badge.tsx'
import { uint } from '../../components/url-state.ts'
import { KINDS, type ListState, STATUSES } from './list-state.ts'

const PAGE_SIZES = [20, 50, 100, 200]

interface FiltersProps {
  state: ListState
  onChange: (parts: Partial<ListState>) => void
}

/** Filters and page size of the quota list. */
export function QuotaFilters({ state, onChange }: FiltersProps) {
  const { user_id, status, kind, page_size } = state
  const isFiltered = user_id !== null || status !== null || kind !== null
  return (
    <search className={classes.filters}>
      <UserFilter state={state} onChange={onChange} />
      <NativeSelect
        label="Status"
        size="xs"
        value={status ?? ''}
        data={[
          { value: '', label: 'All except deleted' },
          ...STATUSES.map(value => ({ value, label: STATUS_LABELS[value] })),
        ]}
        onChange={event => onChange({ status: STATUSES.find(value => value === event.currentTarget.value) ?? null })}
      />
      <NativeSelect
        label="Kind"
        size="xs"
        value={kind ?? ''}
        data={[
          { value: '', label: 'Grants and caps' },
          ...KINDS.map(value => ({ value, label: `${KIND_LABELS[value]}s` })),
        ]}
        onChange={event => onChange({ kind: KINDS.find(value => value === event.currentTarget.value) ?? null })}
      />
      <NativeSelect
        label="Rows"
        size="xs"
        value={String(page_size)}
        data={[...new Set([...PAGE_SIZES, page_size])].sort((one, other) => one - other).map(String)}
        onChange={event => onChange({ page_size: Number(event.currentTarget.value) })}
      />
      {user_id !== null && (
        <Button component={Link} href={`/users/${user_id}`} variant="default" size="xs">
          Open user {user_id}
        </Button>
      )}
      {isFiltered && (
        <Button
          variant="subtle"
          size="xs"
          onClick={() => onChange({ user_id: null, status: null, kind: null, sort: '-id' })}
        >
          Clear filters
        </Button>
      )}
    </search>
  )
}

/** Applies the user id on Enter or blur. */
function UserFilter({ state, onChange }: FiltersProps) {
  const shown = state.user_id === null ? '' : String(state.user_id)
  const [text, setText] = useState(shown)
  // The back button changes the value without input here.
  useEffect(() => setText(shown), [shown])
  const trimmed = text.trim()
  const isInvalid = trimmed !== '' && uint(trimmed) === null

  function apply(event?: FormEvent) {
    event?.preventDefault()
    if (isInvalid || trimmed === shown) return
    const user_id = uint(trimmed)
    // Sorting by remaining units needs a single user.
    const mustResetSort = user_id === null && state.sort.endsWith('remaining')
    onChange({ user_id, ...(mustResetSort ? { sort: '-id' } : {}) })
  }
  return (
    <form onSubmit={apply}>
      <TextInput
        label="User id"
        size="xs"
        inputMode="numeric"
        placeholder="All users"
        value={text}
        onChange={event => setText(event.currentTarget.value)}
        onBlur={() => apply()}
        error={isInvalid && 'Enter a whole number'}
      />
    </form>
  )
}
