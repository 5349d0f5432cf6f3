import { useQuery } from '@tanstack/react-query'
import type { ViewedUser } from '../../model/addresses.ts'
import { DENIALS_STATE, type DenialsState, FILTERS, isFiltered } from '../../model/denial-filters.ts'
import { denialsQuery, type Scope } from '../../queries/denials.ts'
import { texts } from '../../texts/texts.ts'
import { CursorPager } from '../cursor-pager.tsx'
import { KnownFilters } from '../known-filters.tsx'
import { EmptyState, Loaded, Loading } from '../loaded.tsx'
import { useUrlState } from '../url-state.ts'
import { DenialDialog } from './denial-dialog.tsx'
import { DenialFilterFields } from './denial-filters.tsx'
import { DenialTable } from './denial-table.tsx'
import { FoundMessages } from './found-messages.tsx'

/** The denials of one user. */
export default function UserDenials({ user }: { user: ViewedUser }) {
  return <Denials scope={user} />
}

/** The log of denials, newest first, with filters; each denial opens its explanation. */
export function Denials({ scope }: { scope: Scope }) {
  const [state, change] = useUrlState(DENIALS_STATE)
  const list = useQuery(denialsQuery(scope, state))
  return (
    <>
      <DenialFilterFields
        state={state}
        scope={scope}
        // A changed filter starts at the newest.
        onChange={parts => change({ cursor: null, ...parts })}
      />
      {state.id !== null && <FoundMessages id={state.id} scope={scope} />}
      <KnownFilters readers={FILTERS}>
        <Loaded query={list} loading={<Loading rows={8} height={44} />}>
          {({ items, next_cursor }) => (
            <>
              {items.length === 0 ? (
                <NoDenials state={state} hasMore={next_cursor !== null} />
              ) : (
                <DenialTable
                  denials={items}
                  scope={scope}
                  isStale={list.isPlaceholderData}
                  onExplain={denial => change({ denial })}
                />
              )}
              <CursorPager
                cursor={state.cursor}
                next={list.isPlaceholderData ? null : next_cursor}
                onCursor={cursor => change({ cursor })}
              />
            </>
          )}
        </Loaded>
      </KnownFilters>
      <DenialDialog scope={scope} denialId={state.denial} onClose={() => change({ denial: null })} />
    </>
  )
}

function NoDenials({ state, hasMore }: { state: DenialsState; hasMore: boolean }) {
  const { empty } = texts.denials
  if (hasMore) return <EmptyState title={empty.searching}>{empty.searchingAbout}</EmptyState>
  if (state.cursor !== null) return <EmptyState title={empty.older} />
  return <EmptyState title={empty.title}>{isFiltered(state) ? empty.filtered : empty.none}</EmptyState>
}
