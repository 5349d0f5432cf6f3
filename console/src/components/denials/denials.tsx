import { useQuery } from '@tanstack/react-query'
import { CursorPager } from '../cursor-pager.tsx'
import { Dialog } from '../dialog.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Loaded } from '../loaded.tsx'
import { Loading } from '../loading.tsx'
import { useUrlState } from '../url-state.ts'
import { DenialExplanation } from './denial-explanation.tsx'
import { DenialFilters } from './denial-filters.tsx'
import { denialsQuery, type Scope } from './denial-queries.ts'
import { DenialTable } from './denial-table.tsx'
import { DENIALS_STATE, type DenialsState } from './denials-state.ts'

/** The log of denials, newest first, with filters; each denial opens its explanation. */
export function Denials({ scope }: { scope: Scope }) {
  const [state, change] = useUrlState(DENIALS_STATE)
  const list = useQuery(denialsQuery(scope, state))
  return (
    <>
      {/* A changed filter starts at the newest. */}
      <DenialFilters state={state} onChange={parts => change({ cursor: null, ...parts })} />
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
      <Dialog title="Why it was denied" isOpen={state.denial !== null} onClose={() => change({ denial: null })}>
        {state.denial !== null && <DenialExplanation scope={scope} denialId={state.denial} />}
      </Dialog>
    </>
  )
}

function NoDenials({ state: { reason, id, cursor }, hasMore }: { state: DenialsState; hasMore: boolean }) {
  if (hasMore) return <EmptyState title="None found so far">Older denials are not searched yet.</EmptyState>
  if (cursor !== null) return <EmptyState title="No older denials" />
  const isFiltered = reason !== null || id !== null
  return (
    <EmptyState title="No denials">
      {isFiltered ? 'No denial matches these filters.' : 'Denied messages appear here.'} They are kept for some days, by
      default 7.
    </EmptyState>
  )
}
