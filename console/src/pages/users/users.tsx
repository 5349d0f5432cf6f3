import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { CUSTOMER_STATES } from '../../../../src/domain/forecasts/customer-standing.ts'
import type { Api } from '../../api/types.ts'
import { CursorPager } from '../../components/cursor-pager.tsx'
import classes from '../../components/data-table.module.css'
import { DataTable } from '../../components/data-table.tsx'
import { saveFile } from '../../components/download.ts'
import { ExportButton } from '../../components/export-button.tsx'
import { ChoiceFilter, filtersOf, TextFilter } from '../../components/filter-fields.tsx'
import filters from '../../components/filters.module.css'
import { KnownFilters } from '../../components/known-filters.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { TabNav } from '../../components/tab-nav.tsx'
import controls from '../../components/table-controls.module.css'
import { headsOf } from '../../components/table-controls.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { DistantTime } from '../../components/values.tsx'
import {
  CUSTOMER_FILTERS,
  CUSTOMER_STATE,
  type Customer,
  type CustomerFilters,
  isFiltered,
  sortOf,
  VIEWS,
} from '../../model/customers.ts'
import { uint } from '../../model/url-parameters.ts'
import { customersQuery, exportCustomers } from '../../queries/customers.ts'
import { givablePlansQuery } from '../../queries/plans.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { columnsOf } from './columns.tsx'
import styles from './users.module.css'

const words = texts.customers

type Select = (parts: Partial<CustomerFilters>) => void

/** The customers: what each can send, how soon that ends, and what 30 days of usage come to. */
export default function Customers() {
  const [{ cursor, ...selected }, change] = useUrlState(CUSTOMER_STATE)
  const caller = useCaller()
  // A changed filter starts at the first page.
  const select: Select = parts => change({ cursor: null, ...parts })
  const { view } = selected
  return (
    <>
      <PageTitle title={words.title} about={view === null ? words.about : words.aboutViews[view]}>
        {/* An export has no search. */}
        {may(caller, 'export') && selected.search === null && (
          <ExportButton
            words={words.exporting}
            onExport={(signal, onCount) => exportCustomers(selected, signal, onCount, saveFile)}
          />
        )}
      </PageTitle>
      <TabNav
        label={words.views.label}
        tabs={[
          { label: words.views.all, href: '/users', isCurrent: view === null },
          ...VIEWS.map(name => ({
            label: words.views[name],
            href: `/users?view=${name}`,
            isCurrent: view === name,
          })),
        ]}
      />
      <Filters selected={selected} onSelect={select} />
      <KnownFilters readers={CUSTOMER_FILTERS}>
        <List selected={selected} cursor={cursor} onSelect={select} onPage={next => change({ cursor: next })} />
      </KnownFilters>
    </>
  )
}

function Filters({ selected, onSelect }: { selected: CustomerFilters; onSelect: Select }) {
  const plans = useQuery(givablePlansQuery()).data ?? []
  const at = filtersOf(selected, onSelect)
  return (
    <search className={filters.filters}>
      <TextFilter words={words.search} {...at('search')} />
      <ChoiceFilter words={words.state} choices={CUSTOMER_STATES} labels={words.states} {...at('state')} />
      {plans.length > 0 && (
        <ChoiceFilter
          words={words.plan}
          choices={plans.map(({ id }) => String(id))}
          labels={Object.fromEntries(plans.map(({ id, name }) => [id, name]))}
          value={selected.plan === null ? null : String(selected.plan)}
          onApply={plan => onSelect({ plan: uint(plan) })}
        />
      )}
    </search>
  )
}

interface ListProps {
  selected: CustomerFilters
  cursor: string | null
  onSelect: Select
  onPage: (cursor: string | null) => void
}

function List({ selected, cursor, onSelect, onPage }: ListProps) {
  const list = useQuery(customersQuery(selected, cursor))
  return (
    <Loaded query={list} loading={<Loading rows={10} height={44} />}>
      {page => (
        <>
          {selected.search !== null && !list.isPlaceholderData && (
            <Unknown
              text={selected.search}
              customers={page.items}
              isFiltered={isFiltered({ ...selected, search: null })}
            />
          )}
          {page.items.length > 0 ? (
            <DataTable
              look="records"
              className={`${controls.table} ${styles.table}`}
              label={words.title}
              columns={columnsOf(selected)}
              headOf={headsOf(sortOf(selected), sort => onSelect({ sort }))}
              rows={page.items}
              keyOf={({ user_id }) => user_id}
              isStale={list.isPlaceholderData}
            />
          ) : (
            selected.search === null && <NoCustomers selected={selected} page={page} isFirst={cursor === null} />
          )}
          {page.has_more === true && <p className={classes.more}>{words.more}</p>}
          <CursorPager
            cursor={cursor}
            next={list.isPlaceholderData ? null : page.next_cursor}
            onCursor={onPage}
            labels={[texts.quotas.pages.first, texts.quotas.pages.next]}
          />
          <Age page={page} />
        </>
      )}
    </Loaded>
  )
}

/** An id that no user has is said to be unknown, with what one can do about it. */
function Unknown({
  text,
  customers,
  isFiltered,
}: {
  text: string
  customers: readonly Customer[]
  isFiltered: boolean
}) {
  const canChange = may(useCaller(), 'change')
  const id = uint(text.trim())
  if (isFiltered) return customers.length === 0 && <EmptyState title={words.noneFound} />
  if (id === null)
    return customers.length === 0 && <EmptyState title={words.notFound}>{words.notFoundAbout}</EmptyState>
  if (customers.some(({ user_id }) => user_id === id)) return null
  return (
    <EmptyState title={words.unknown(id)}>
      {words.unknownAbout}
      {canChange && (
        <Button
          component={Link}
          href={`/quotas/new?user_id=${id}`}
          variant="default"
          size="xs"
          mt="xs"
          display="block"
          w="fit-content"
        >
          {words.createFor(id)}
        </Button>
      )}
    </EmptyState>
  )
}

interface NoCustomersProps {
  selected: CustomerFilters
  page: Api['CustomerPage']
  isFirst: boolean
}

function NoCustomers({ selected, page, isFirst }: NoCustomersProps) {
  if (page.next_cursor !== null) return <EmptyState title={words.noneFound}>{words.goOn}</EmptyState>
  if (page.complete_until === null) return <EmptyState title={words.age.incomplete}>{words.noneAbout}</EmptyState>
  if (isFiltered(selected) || !isFirst) return <EmptyState title={words.noneFound} />
  if (selected.view === 'at_risk') return <EmptyState title={words.noneAtRisk} />
  if (selected.view === 'unmet') return <EmptyState title={words.noneUnmet} />
  return <EmptyState title={words.none}>{words.noneAbout}</EmptyState>
}

function Age({ page: { complete_until: at } }: { page: Api['CustomerPage'] }) {
  return (
    <details className={classes.more}>
      <summary>{words.age.title}</summary>
      <p>{words.age.now}</p>
      <p>{at === null ? words.age.incomplete : words.age.until(<DistantTime at={at} />)}</p>
    </details>
  )
}
