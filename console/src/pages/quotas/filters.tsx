import { Button, NativeSelect } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { STATUS_LABELS } from '../../components/badge.tsx'
import { ChoiceFilter, CountryFilter, TextFilter, UserFilter } from '../../components/filter-fields.tsx'
import {
  ENDS_WITHIN,
  filterCount,
  isSortedByUse,
  KINDS,
  LIST_STATE,
  type ListState,
  PAGE_SIZES,
  STATUSES,
  UNFILTERED,
} from '../../model/quota-lists.ts'
import { texts } from '../../texts/texts.ts'
import classes from './quotas.module.css'

// Reads the plans, which are not shown at first.
const PlanFilter = lazy(() => import('./plan-filter.tsx'))

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
        className={classes.toggle}
        variant="default"
        size="xs"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {filters.toggle(filterCount(state))}
      </Button>
      <UserFilter value={user_id} onApply={id => onChange(userChange(id, state))} />
      <TextFilter
        label={filters.name}
        placeholder={filters.nameHint}
        value={name}
        onApply={text => onChange({ name: text })}
      />
      <TextFilter
        label={filters.reference}
        placeholder={filters.referenceHint}
        value={external_ref}
        onApply={text => onChange({ external_ref: text })}
      />
      <Choices state={state} onChange={onChange} />
      <CountryFilter value={country} onApply={text => onChange({ country: text })} />
      <TextFilter
        label={filters.messageType}
        placeholder={filters.messageTypeHint}
        value={message_type}
        parse={LIST_STATE.message_type}
        error={filters.notAType}
        onApply={text => onChange({ message_type: text })}
      />
      <Suspense>
        <PlanFilter state={state} onChange={onChange} />
      </Suspense>
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
      <ChoiceFilter
        label={filters.status}
        all={filters.allStatuses}
        choices={STATUSES}
        labels={STATUS_LABELS}
        value={status}
        onApply={value => onChange({ status: value })}
      />
      <ChoiceFilter
        label={filters.kind}
        all={filters.allKinds}
        choices={KINDS}
        labels={filters.kinds}
        value={kind}
        onApply={value => onChange({ kind: value })}
      />
      <ChoiceFilter
        label={filters.ends}
        all={filters.anyTime}
        choices={ENDS_WITHIN}
        labels={filters.endsWithin}
        value={ends_within}
        onApply={value => onChange({ ends_within: value })}
      />
    </>
  )
}

/** Sorting by usage needs a single user. */
function userChange(user_id: number | null, { sort }: ListState): Partial<ListState> {
  const mustResetSort = user_id === null && isSortedByUse(sort)
  return { user_id, ...(mustResetSort ? { sort: UNFILTERED.sort } : {}) }
}
