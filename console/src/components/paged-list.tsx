import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { CursorPager } from './cursor-pager.tsx'
import { Loaded, Loading, NoRows } from './loaded.tsx'

interface PagedListProps<Item> {
  page: UseQueryResult<{ items: Item[]; next_cursor: string | null }>
  /** The cursor of the page; null on the first. */
  cursor: string | null
  onCursor: (cursor: string | null) => void
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

/** A list with the newest first, page by page. */
export function PagedList<Item>({ page, cursor, onCursor, rows = 5, children, ...more }: PagedListProps<Item>) {
  const { isFiltered = false, kept, none } = more
  const isStale = page.isPlaceholderData
  return (
    <Loaded query={page} loading={<Loading rows={rows} height={44} />}>
      {({ items, next_cursor: next }) => (
        <>
          {items.length === 0 ? (
            <NoRows hasMore={next !== null} isOlder={cursor !== null} {...{ isFiltered, kept, none }} />
          ) : (
            children(items, isStale)
          )}
          <CursorPager cursor={cursor} next={isStale ? null : next} onCursor={onCursor} />
        </>
      )}
    </Loaded>
  )
}
