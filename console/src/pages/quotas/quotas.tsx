import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { Pager } from '../../parts/pager.tsx'
import { QuotaTable } from '../../parts/quota-table.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { QuotaFilters } from './filters.tsx'
import { LIST_STATE, type ListState } from './list-state.ts'

/** The quotas of all users. */
export default function Quotas() {
  const [state, change] = useUrlState(LIST_STATE)
  // Another selection begins at its first page.
  const select = (parts: Partial<ListState>) => change({ page: 1, ...parts })
  return (
    <>
      <PageTitle title="Quotas" about="What all users may send: grants that pay for messages, and caps on them.">
        <Button component={Link} href="/quotas/new" size="xs">
          New quota
        </Button>
      </PageTitle>
      <QuotaFilters state={state} onChange={select} />
      <List state={state} select={select} onPage={page => change({ page })} />
    </>
  )
}

interface ListProps {
  state: ListState
  select: (parts: Partial<ListState>) => void
  onPage: (page: number) => void
}

function List({ state, select, onPage }: ListProps) {
  const list = useQuery({
    queryKey: ['quotas', state],
    queryFn: ({ signal }) => request<Api['QuotaPage']>('/admin/quota/list', { query: state, signal }),
    // The rows before stay until the next ones are there.
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={list} loading={<Loading rows={Math.min(state.page_size, 12)} height={44} />}>
      {({ items, total = 0 }) => (
        <>
          {items.length === 0 ? (
            <Empty title="No quotas here">{emptyWords(state, total)}</Empty>
          ) : (
            <QuotaTable
              quotas={items}
              whose="everybody"
              sort={state.sort}
              onSort={sort => select({ sort })}
              canSortByRemaining={state.user_id !== null}
              isOld={list.isPlaceholderData}
            />
          )}
          <Pager page={state.page} page_size={state.page_size} total={total} onPage={onPage} />
        </>
      )}
    </Loaded>
  )
}

function emptyWords({ user_id, status, kind }: ListState, total: number): string {
  if (total > 0) return 'This page is past the end of the list.'
  const isFiltered = user_id !== null || status !== null || kind !== null
  return isFiltered ? 'No quota matches these filters.' : 'Make the first one with “New quota”.'
}
