import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { request } from '../../api/client.ts'
import { CursorPager } from '../../components/cursor-pager.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { QUOTA_URL_STATE } from './quota-tabs.ts'

interface PageOf<Item> {
  items: Item[]
  next_cursor: string | null
}

interface PagedRecordsProps<Item> {
  id: number
  /** The last segment of the path. */
  resource: 'windows' | 'history'
  empty: { title: string; hint: string }
  /** @param isStale whether newer items are being loaded */
  render: (items: Item[], isStale: boolean) => ReactNode
}

/** A paged list of past windows or changes of a quota, newest first. */
export function PagedRecords<Item>({ id, resource, empty, render }: PagedRecordsProps<Item>) {
  const [{ cursor }, change] = useUrlState(QUOTA_URL_STATE)
  const page = useQuery({
    queryKey: ['quotas', id, resource, cursor],
    queryFn: ({ signal }) => request<PageOf<Item>>(`/admin/quota/${id}/${resource}`, { query: { cursor }, signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={page} loading={<Loading rows={5} height={44} />}>
      {({ items, next_cursor }) => (
        <>
          {items.length === 0 ? (
            <EmptyState title={empty.title}>{empty.hint}</EmptyState>
          ) : (
            render(items, page.isPlaceholderData)
          )}
          <CursorPager cursor={cursor} next={next_cursor} onCursor={next => change({ cursor: next })} />
        </>
      )}
    </Loaded>
  )
}
