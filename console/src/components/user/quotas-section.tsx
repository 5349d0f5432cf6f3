import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { ViewedUser } from '../../model/addresses.ts'
import { SORTS } from '../../model/quota-lists.ts'
import { count, oneOf } from '../../model/url-parameters.ts'
import { userQuotasQuery } from '../../queries/user.ts'
import { adjustsQuotas, changesQuotas, may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { EmptyState, Loaded, Loading } from '../loaded.tsx'
import { Pager } from '../pager.tsx'
import { QuotaTable } from '../quota-table.tsx'
import { useRowActions } from '../row-actions.tsx'
import { Section } from '../section.tsx'
import { useUrlState } from '../url-state.ts'

const STATE = { sort: oneOf(SORTS, '-id'), page: count(1) }
const PAGE_SIZE = 20

/** A user's quotas, including expired ones. */
export default function QuotasSection({ user }: { user: ViewedUser }) {
  const { user_id, isOwn } = user
  return (
    <Section
      title={isOwn ? texts.user.quotas.ownTitle : texts.user.quotas.title}
      aside={
        !isOwn && (
          <Anchor component={Link} href={`/quotas?user_id=${user_id}`} size="sm">
            {texts.user.quotas.openList}
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
  const list = useQuery(userQuotasQuery(user, { ...state, page_size: PAGE_SIZE }))
  const caller = useCaller()
  const { actions, outcome, menu } = useRowActions()
  const canAct = !user.isOwn && (adjustsQuotas(caller) || changesQuotas(caller))
  return (
    <Loaded query={list} loading={<Loading height={44} />}>
      {({ items, total }) => (
        <>
          {outcome}
          {total === 0 && <NoQuotas user={user} />}
          {total > 0 && items.length === 0 && <EmptyState title={texts.user.quotas.pastTheEnd} />}
          {items.length > 0 && (
            <QuotaTable
              quotas={items}
              owner={user.isOwn ? 'own' : 'user'}
              sort={state.sort}
              onSort={sort => change({ sort, page: 1 })}
              canSortByRemaining
              isStale={list.isPlaceholderData}
              actions={canAct ? actions : undefined}
            />
          )}
          {(total > PAGE_SIZE || state.page > 1) && (
            <Pager page={state.page} page_size={PAGE_SIZE} total={total} onPage={page => change({ page })} />
          )}
          {menu}
        </>
      )}
    </Loaded>
  )
}

function NoQuotas({ user: { user_id, isOwn } }: { user: ViewedUser }) {
  const caller = useCaller()
  const { none, ownNone, noneAbout, createFirst } = texts.user.quotas
  if (isOwn) return <EmptyState title={none}>{ownNone}</EmptyState>
  return (
    <EmptyState title={none}>
      {noneAbout}{' '}
      {may(caller, 'change') && (
        <Anchor component={Link} href={`/quotas/new?user_id=${user_id}`} underline="always" inherit>
          {createFirst}
        </Anchor>
      )}
    </EmptyState>
  )
}
