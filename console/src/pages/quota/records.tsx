import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { request } from '../../api/client.ts'
import { CursorPager } from '../../parts/cursor-pager.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { QUOTA_ADDRESS } from './address.ts'

interface PageOf<Item> {
  items: Item[]
  next_cursor: string | null
}

interface RecordsProps<Item> {
  id: number
  /** Of what; the name of the path too. */
  of: 'windows' | 'history'
  none: { title: string; words: string }
  /** @param isOld whether other items are on their way */
  show: (items: Item[], isOld: boolean) => ReactNode
}

/** What a quota went through, a page at a time, newest first. */
export function Records<Item>({ id, of, none, show }: RecordsProps<Item>) {
  const [{ cursor }, change] = useUrlState(QUOTA_ADDRESS)
  const page = useQuery({
    queryKey: ['quotas', id, of, cursor],
    queryFn: ({ signal }) => request<PageOf<Item>>(`/admin/quota/${id}/${of}`, { query: { cursor }, signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={page} loading={<Loading rows={5} height={44} />}>
      {({ items, next_cursor }) => (
        <>
          {items.length === 0 ? <Empty title={none.title}>{none.words}</Empty> : show(items, page.isPlaceholderData)}
          <CursorPager cursor={cursor} next={next_cursor} onCursor={next => change({ cursor: next })} />
        </>
      )}
    </Loaded>
  )
}
