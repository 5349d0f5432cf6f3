import { Button, NativeSelect } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { STATUS_LABELS } from '../../components/badge.tsx'
import {
  ChoiceFilter,
  ClearFilters,
  CountryFilter,
  filtersOf,
  TextFilter,
  UserFilter,
} from '../../components/filter-fields.tsx'
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
  const { user_id, page_size } = state
  const at = filtersOf(state, onChange)
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
      <TextFilter words={filters.name} {...at('name')} />
      <TextFilter words={filters.reference} {...at('external_ref')} />
      <ChoiceFilter words={filters.status} choices={STATUSES} labels={STATUS_LABELS} {...at('status')} />
      <ChoiceFilter words={filters.kind} choices={KINDS} labels={filters.kinds} {...at('kind')} />
      <ChoiceFilter words={filters.ends} choices={ENDS_WITHIN} labels={filters.endsWithin} {...at('ends_within')} />
      <CountryFilter {...at('country')} />
      <TextFilter words={filters.messageType} parse={LIST_STATE.message_type} {...at('message_type')} />
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
      <ClearFilters isFiltered={filterCount(state) > 0} onClear={() => onChange(UNFILTERED)} />
    </search>
  )
}

/** Sorting by usage needs a single user. */
function userChange(user_id: number | null, { sort }: ListState): Partial<ListState> {
  const mustResetSort = user_id === null && isSortedByUse(sort)
  return { user_id, ...(mustResetSort ? { sort: UNFILTERED.sort } : {}) }
}
