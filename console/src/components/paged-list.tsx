import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiProblem } from '../api/problem.ts'
import { cursor } from '../model/url-parameters.ts'
import { CursorPager } from './cursor-pager.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { Loaded, Loading, NoRows } from './loaded.tsx'
import { useUrlState } from './url-state.ts'

interface PagedListProps<Item> {
  page: UseQueryResult<{ items: Item[]; next_cursor: string | null }>
  /** How many rows are expected; they are placeholders until the page is there. */
  rows?: number
  isFiltered?: boolean
  /** What else keeps items from being found, where filters select none. */
  kept?: string
  /** Where there are none at all. */
  none: ReactNode
  /** @param isStale whether another page is being loaded: until then, there is no next one */
  children: (items: Item[], isStale: boolean) => ReactNode
}

const STATE = { cursor }

/** A list with the newest first, page by page. The URL has the cursor of the page. */
export function PagedList<Item>({ page, rows = 5, children, ...more }: PagedListProps<Item>) {
  const { isFiltered = false, kept, none } = more
  const [state, change] = useUrlState(STATE)
  const isStale = page.isPlaceholderData
  // Rejected filters: showing the rows before would look like the result.
  if (page.error instanceof ApiProblem && page.error.status < 500)
    return <ErrorNotice variant="load" error={page.error} onRetry={page.refetch} />
  return (
    <Loaded query={page} loading={<Loading rows={rows} height={44} />}>
      {({ items, next_cursor: next }) => (
        <>
          {items.length === 0 ? (
            <NoRows hasMore={next !== null} isOlder={state.cursor !== null} {...{ isFiltered, kept, none }} />
          ) : (
            children(items, isStale)
          )}
          <CursorPager cursor={state.cursor} next={isStale ? null : next} onCursor={to => change({ cursor: to })} />
        </>
      )}
    </Loaded>
  )
}
