import { Anchor } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { EmptyState } from '../empty-state.tsx'
import { Loaded } from '../loaded.tsx'
import { Loading } from '../loading.tsx'
import { Pager } from '../pager.tsx'
import { SORTS } from '../quota-labels.ts'
import { QuotaTable } from '../quota-table.tsx'
import { Section } from '../section.tsx'
import { count, oneOf, useUrlState } from '../url-state.ts'
import { type ViewedUser, viewedUserQuery } from './viewed-user.ts'

const STATE = { sort: oneOf(SORTS, '-id'), page: count(1) }
const PAGE_SIZE = 20

/** A user's quotas, including expired ones. */
export function QuotasSection({ user }: { user: ViewedUser }) {
  const { user_id, isOwn } = user
  return (
    <Section
      title="Quotas"
      aside={
        !isOwn && (
          <Anchor component={Link} href={`/quotas?user_id=${user_id}`} size="sm">
            Open in the quota list
          </Anchor>
        )
      }
    >
      <List user={user} />
    </Section>
  )
}

function List({ user }: { user: ViewedUser }) {
  const [state, change] = useUrlState(STATE)
  const list = useQuery({
    ...viewedUserQuery(user, 'list', { ...state, page_size: PAGE_SIZE }),
    // Keeps the previous rows until the next page is loaded.
    placeholderData: keepPreviousData,
    // The list of one user always has a total.
    select: ({ items, total }) => ({ items, total: total ?? 0 }),
  })
  return (
    <Loaded query={list} loading={<Loading height={44} />}>
      {({ items, total }) => (
        <>
          {total === 0 && <NoQuotas user={user} />}
          {total > 0 && items.length === 0 && <EmptyState title="This page is past the end of the list." />}
          {items.length > 0 && (
            <QuotaTable
              quotas={items}
              owner={user.isOwn ? 'own' : 'user'}
              sort={state.sort}
              onSort={sort => change({ sort, page: 1 })}
              canSortByRemaining
              isStale={list.isPlaceholderData}
            />
          )}
          {(total > PAGE_SIZE || state.page > 1) && (
            <Pager page={state.page} page_size={PAGE_SIZE} total={total} onPage={page => change({ page })} />
          )}
        </>
      )}
    </Loaded>
  )
}

function NoQuotas({ user: { user_id, isOwn } }: { user: ViewedUser }) {
  if (isOwn)
    return (
      <EmptyState title="No quotas yet">
        You cannot send messages without a quota. Ask an administrator to create one.
      </EmptyState>
    )
  return (
    <EmptyState title="No quotas yet">
      The user cannot send messages without a quota.{' '}
      <Anchor component={Link} href={`/quotas/new?user_id=${user_id}`} underline="always" inherit>
        Create the first one
      </Anchor>
    </EmptyState>
  )
}
