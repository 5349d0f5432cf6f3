import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiProblem } from '../../api/problem.ts'
import { addDays, startOfDay } from '../../local-time.ts'
import { CursorPager } from '../cursor-pager.tsx'
import { EmptyState } from '../empty-state.tsx'
import { ErrorNotice } from '../error-notice.tsx'
import { Loading } from '../loading.tsx'
import { useUrlState } from '../url-state.ts'
import { useQuotaNames } from './quota-names.ts'
import { ReservationFilters } from './reservation-filters.tsx'
import { ReservationTable } from './reservation-table.tsx'
import { RESERVATIONS_STATE, type ReservationsState } from './reservations-state.ts'
import { type ViewedUser, viewedUserQuery } from './viewed-user.ts'

const PAGE_SIZE = 25

/** A user's reservations, newest first. */
export default function Reservations({ user }: { user: ViewedUser }) {
  const [state, change] = useUrlState(RESERVATIONS_STATE)
  const names = useQuotaNames(user)
  const list = useQuery({
    ...viewedUserQuery(user, 'reservations', {
      ...state,
      from: state.from && startOfDay(state.from),
      to: state.to && startOfDay(addDays(state.to, 1)),
      page_size: PAGE_SIZE,
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <ReservationFilters
        state={state}
        names={names}
        // A changed filter starts at the newest.
        onChange={parts => change({ cursor: null, ...parts })}
      />
      {list.error !== null && <ErrorNotice variant="load" error={list.error} onRetry={list.refetch} />}
      {list.data === undefined && list.error === null && <Loading rows={8} height={44} />}
      {list.data !== undefined && !isRejected(list.error) && (
        <>
          {list.data.items.length === 0 ? (
            <NoReservations state={state} hasMore={list.data.next_cursor !== null} />
          ) : (
            <ReservationTable
              reservations={list.data.items}
              names={names}
              isOwn={user.isOwn}
              isStale={list.isPlaceholderData}
            />
          )}
          <CursorPager
            cursor={state.cursor}
            next={list.isPlaceholderData ? null : list.data.next_cursor}
            onCursor={next => change({ cursor: next })}
          />
        </>
      )}
    </>
  )
}

/** Rejected filters: showing the previous rows would look like the result. */
function isRejected(error: Error | null): boolean {
  return error instanceof ApiProblem && error.status < 500
}

function NoReservations({
  state: { state, quota_id, from, to, cursor: after },
  hasMore,
}: {
  state: ReservationsState
  hasMore: boolean
}) {
  if (hasMore) return <EmptyState title="None found so far">Older reservations are not searched yet.</EmptyState>
  if (after !== null) return <EmptyState title="No older reservations" />
  const isFiltered = state !== null || quota_id !== null || from !== null || to !== null
  return (
    <EmptyState title="No reservations">
      {isFiltered ? 'No reservation matches these filters.' : 'Reservations and sent messages appear here.'}
    </EmptyState>
  )
}
