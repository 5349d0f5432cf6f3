import { Anchor } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Empty } from '../empty.tsx'
import { Loaded } from '../loaded.tsx'
import { Loading } from '../loading.tsx'
import { Pager } from '../pager.tsx'
import { QuotaTable } from '../quota-table.tsx'
import { SORTS } from '../quota-words.ts'
import { Section } from '../section.tsx'
import { count, oneOf, useUrlState } from '../url-state.ts'
import { readOf, type Subject } from './subject.ts'

const STATE = { sort: oneOf(SORTS, '-id'), page: count(1) }
const PAGE_SIZE = 20

/** A user's quotas, the ones that are over included. */
export function QuotasSection({ subject }: { subject: Subject }) {
  const { user_id, isOwn } = subject
  return (
    <Section
      title="Quotas"
      aside={
        !isOwn && (
          <Anchor component={Link} href={`/quotas?user_id=${user_id}`} size="sm">
            Filter in the list of all
          </Anchor>
        )
      }
    >
      <List subject={subject} />
    </Section>
  )
}

function List({ subject }: { subject: Subject }) {
  const [state, change] = useUrlState(STATE)
  const list = useQuery({
    ...readOf(subject, 'list', { ...state, page_size: PAGE_SIZE }),
    // The rows before stay until the next ones are there.
    placeholderData: keepPreviousData,
  })
  return (
    <Loaded query={list} loading={<Loading height={44} />}>
      {({ items, total = 0 }) => (
        <>
          {total === 0 && <NoQuotas subject={subject} />}
          {total > 0 && items.length === 0 && <Empty title="This page is past the end of the list." />}
          {items.length > 0 && (
            <QuotaTable
              quotas={items}
              whose={subject.isOwn ? 'own' : 'user'}
              sort={state.sort}
              onSort={sort => change({ sort, page: 1 })}
              canSortByRemaining
              isOld={list.isPlaceholderData}
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

function NoQuotas({ subject: { user_id, isOwn } }: { subject: Subject }) {
  if (isOwn)
    return <Empty title="No quotas yet">Without one nothing can be sent. An administrator can make one for you.</Empty>
  return (
    <Empty title="No quotas yet">
      Without one nothing can be sent.{' '}
      <Anchor component={Link} href={`/quotas/new?user_id=${user_id}`} underline="always" inherit>
        Make the first one
      </Anchor>
    </Empty>
  )
}
