import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { CursorPager } from '../../components/cursor-pager.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { Pager } from '../../components/pager.tsx'
import classes from '../../components/panel-table.module.css'
import { QuotaTable } from '../../components/quota-table.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { formatUnits } from '../../formats.ts'
import { QuotaFilters } from './filters.tsx'
import { LIST_STATE, type ListState } from './list-state.ts'

/** The list of all quotas. */
export default function Quotas() {
  const [state, change] = useUrlState(LIST_STATE)
  // A changed filter starts at the first page.
  const select = (parts: Partial<ListState>) => change({ page: 1, cursor: null, ...parts })
  return (
    <>
      <PageTitle title="Quotas" about="Grants and caps of all users.">
        <Button component={Link} href="/quotas/new" size="xs">
          New quota
        </Button>
      </PageTitle>
      <QuotaFilters state={state} onChange={select} />
      <List state={state} select={select} />
    </>
  )
}

interface ListProps {
  state: ListState
  /** Changes the list; to its first page, unless that is said too. */
  select: (parts: Partial<ListState>) => void
}

function List({ state, select }: ListProps) {
  const query = state.cursor === null ? state : { ...state, page: null }
  const list = useQuery({
    queryKey: ['quotas', state],
    queryFn: ({ signal }) => request<Api['QuotaPage']>('/admin/quota/list', { query, signal }),
    // Keeps the previous rows until the next page is loaded.
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={list} loading={<Loading rows={Math.min(state.page_size, 12)} height={44} />}>
      {({ items, total = null, total_at_least, next_cursor }) => (
        <>
          {items.length === 0 ? (
            <EmptyState title="No quotas">{emptyHint(state, total, next_cursor)}</EmptyState>
          ) : (
            <QuotaTable
              quotas={items}
              owner="all"
              sort={state.sort}
              onSort={sort => select({ sort })}
              canSortByRemaining={state.user_id !== null}
              isStale={list.isPlaceholderData}
            />
          )}
          {total === null ? (
            <>
              {total_at_least !== undefined && (
                <p className={classes.more}>At least {formatUnits(total_at_least)} quotas match.</p>
              )}
              <CursorPager
                cursor={state.cursor}
                next={next_cursor}
                onCursor={cursor => select({ cursor })}
                labels={['First', 'Next']}
              />
            </>
          ) : (
            <Pager page={state.page} page_size={state.page_size} total={total} onPage={page => select({ page })} />
          )}
        </>
      )}
    </Loaded>
  )
}

function emptyHint({ user_id, status, kind }: ListState, total: number | null, next: string | null): string {
  if (next !== null) return 'None among the quotas searched so far. Go on with “Next”.'
  if (total !== null && total > 0) return 'This page is past the end of the list.'
  const isFiltered = user_id !== null || status !== null || kind !== null
  return isFiltered ? 'No quota matches these filters.' : 'Create the first one with “New quota”.'
}
