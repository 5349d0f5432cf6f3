import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { Link } from 'wouter'
import classes from '../../parts/filters.module.css'
import { KIND_WORDS } from '../../parts/quota-words.ts'
import { STATUS_WORDS } from '../../parts/status-badge.tsx'
import { uint } from '../../parts/url-state.ts'
import { KINDS, type ListState, STATUSES } from './list-state.ts'

const PAGE_SIZES = [20, 50, 100, 200]

interface FiltersProps {
  state: ListState
  onChange: (parts: Partial<ListState>) => void
}

/** Which quotas are listed, and how many at once. */
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
          { value: '', label: 'All but deleted' },
          ...STATUSES.map(value => ({ value, label: STATUS_WORDS[value] })),
        ]}
        onChange={event => onChange({ status: STATUSES.find(value => value === event.currentTarget.value) ?? null })}
      />
      <NativeSelect
        label="Kind"
        size="xs"
        value={kind ?? ''}
        data={[
          { value: '', label: 'Grants and caps' },
          ...KINDS.map(value => ({ value, label: `${KIND_WORDS[value]}s` })),
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

/** A user id is asked for when it is complete: with Enter, or on leaving the field. */
function UserFilter({ state, onChange }: FiltersProps) {
  const shown = state.user_id === null ? '' : String(state.user_id)
  const [text, setText] = useState(shown)
  // "Back" changes the address without a key being pressed here.
  useEffect(() => setText(shown), [shown])
  const wanted = text.trim()
  const isWrong = wanted !== '' && uint(wanted) === null

  function apply(event?: FormEvent) {
    event?.preventDefault()
    if (isWrong || wanted === shown) return
    const user_id = uint(wanted)
    // Only within one user can the list go by what remains.
    const isLost = user_id === null && state.sort.endsWith('remaining')
    onChange({ user_id, ...(isLost ? { sort: '-id' } : {}) })
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
        error={isWrong && 'A whole number'}
      />
    </form>
  )
}
