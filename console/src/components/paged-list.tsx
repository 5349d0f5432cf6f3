import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { CursorPager } from './cursor-pager.tsx'
import { Loaded, Loading } from './loaded.tsx'

interface PagedListProps<Item> {
  page: UseQueryResult<{ items: Item[]; next_cursor: string | null }>
  /** The cursor of the page; null on the first. */
  cursor: string | null
  onCursor: (cursor: string | null) => void
  /** How many rows are expected; they are placeholders until the page is there. */
  rows?: number
  /** What stands in place of no items. @param hasMore whether a later page may have some */
  empty: (hasMore: boolean) => ReactNode
  /** @param isStale whether another page is being loaded: until then, there is no next one */
  children: (items: Item[], isStale: boolean) => ReactNode
}

/** A list with the newest first, page by page. */
export function PagedList<Item>({ page, cursor, onCursor, rows = 5, empty, children }: PagedListProps<Item>) {
  const isStale = page.isPlaceholderData
  return (
    <Loaded query={page} loading={<Loading rows={rows} height={44} />}>
      {({ items, next_cursor: next }) => (
        <>
          {items.length === 0 ? empty(next !== null) : children(items, isStale)}
          <CursorPager cursor={cursor} next={isStale ? null : next} onCursor={onCursor} />
        </>
      )}
    </Loaded>
  )
}
