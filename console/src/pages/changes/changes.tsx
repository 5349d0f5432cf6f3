import { useQuery } from '@tanstack/react-query'
import { AUDITED_RESOURCES } from '../../../../src/domain/events/audit.ts'
import { saveFile } from '../../components/download.ts'
import { ExportButton } from '../../components/export-button.tsx'
import { ChoiceFilter, ClearFilters, filtersOf, TextFilter } from '../../components/filter-fields.tsx'
import filters from '../../components/filters.module.css'
import { KnownFilters } from '../../components/known-filters.tsx'
import { EmptyState } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { PeriodFilter } from '../../components/period-filter.tsx'
import { useMeaningless, useUrlState } from '../../components/url-state.ts'
import { CHANGE_FILTERS, type ChangeFilters, isFiltered, NO_FILTERS } from '../../model/audit.ts'
import { subject } from '../../model/denial-filters.ts'
import { requestsOf } from '../../model/request-changes.ts'
import { cursor } from '../../model/url-parameters.ts'
import { changesQuery, exportChanges } from '../../queries/audit.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { ChangeTable } from './change-table.tsx'

const words = texts.changes
const STATE = { ...CHANGE_FILTERS, cursor }

/** Administrators' changes over all users, newest first, with filters. */
export default function Changes() {
  const [{ cursor: after, ...selected }, change] = useUrlState(STATE)
  const caller = useCaller()
  const hasUnknown = useMeaningless(CHANGE_FILTERS).length > 0
  return (
    <>
      <PageTitle title={words.title} about={selected.raised === null ? words.about : words.aboutRaised}>
        {may(caller, 'export') && !hasUnknown && (
          <ExportButton
            words={words.exporting}
            onExport={(signal, onCount) => exportChanges(selected, signal, onCount, saveFile)}
          />
        )}
      </PageTitle>
      {/* A changed filter starts at the newest. */}
      <FilterFields selected={selected} onChange={parts => change({ cursor: null, ...parts })} />
      <KnownFilters readers={CHANGE_FILTERS}>
        <ChangeList selected={selected} after={after} />
      </KnownFilters>
    </>
  )
}

function ChangeList({ selected, after }: { selected: ChangeFilters; after: string | null }) {
  const page = useQuery(changesQuery(selected, after))
  return (
    <PagedList
      page={page}
      rows={8}
      isFiltered={isFiltered(selected)}
      none={<EmptyState title={words.none}>{words.noneAbout}</EmptyState>}
    >
      {(items, isStale) => (
        <ChangeTable
          // Each raise of a limit is a row with its difference, also of those that one call made.
          requests={selected.raised === null ? requestsOf(items) : items.map(head => ({ head, others: [] }))}
          ofUser={null}
          isStale={isStale}
        />
      )}
    </PagedList>
  )
}

interface FilterProps {
  selected: ChangeFilters
  onChange: (parts: Partial<ChangeFilters>) => void
}

function FilterFields({ selected, onChange }: FilterProps) {
  const labels = words.filters
  const at = filtersOf(selected, onChange)
  return (
    <search className={filters.filters}>
      <ChoiceFilter words={labels.raised} choices={['true'] as const} labels={labels.raises} {...at('raised')} />
      <ChoiceFilter words={labels.resource} choices={AUDITED_RESOURCES} labels={labels.resources} {...at('resource')} />
      <TextFilter words={labels.actor} parse={subject} {...at('actor')} />
      <PeriodFilter from={selected.from} to={selected.to} onChange={onChange} />
      <ClearFilters isFiltered={isFiltered(selected)} onClear={() => onChange(NO_FILTERS)} />
    </search>
  )
}
