import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { RESERVATION_STATES } from '../../../../src/domain/reservation.ts'
import { ApiProblem } from '../../api/problem.ts'
import { CursorPager } from '../cursor-pager.tsx'
import { Empty } from '../empty.tsx'
import { Failure } from '../failure.tsx'
import { Loading } from '../loading.tsx'
import { cursor, day, oneOf, type StateOf, uint, useUrlState } from '../url-state.ts'
import { addDays, startOfDay } from '../usage/days.ts'
import { useQuotaNames } from './quota-names.ts'
import { ReservationFilters } from './reservation-filters.tsx'
import { ReservationTable } from './reservation-table.tsx'
import { readOf, type Subject } from './subject.ts'

const STATE = { state: oneOf(RESERVATION_STATES, null), quota_id: uint, from: day, to: day, cursor }
export type ReservationsState = StateOf<typeof STATE>

const PAGE_SIZE = 25

/** What became of a user's messages, the newest first. */
export function Reservations({ subject }: { subject: Subject }) {
  const [state, change] = useUrlState(STATE)
  const names = useQuotaNames(subject)
  const list = useQuery({
    ...readOf(subject, 'reservations', {
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
        // Another selection begins at its newest.
        onChange={parts => change({ cursor: null, ...parts })}
      />
      {list.error !== null && <Failure error={list.error} onRetry={list.refetch} />}
      {list.data === undefined && list.error === null && <Loading rows={8} height={44} />}
      {list.data !== undefined && !isRefused(list.error) && (
        <>
          {list.data.items.length === 0 ? (
            <Nothing state={state} hasMore={list.data.next_cursor !== null} />
          ) : (
            <ReservationTable
              reservations={list.data.items}
              names={names}
              isOwn={subject.isOwn}
              isOld={list.isPlaceholderData}
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

/** What is asked for cannot be: rows of before would pass for the answer. */
function isRefused(error: Error | null): boolean {
  return error instanceof ApiProblem && error.status < 500
}

function Nothing({
  state: { state, quota_id, from, to, cursor: after },
  hasMore,
}: {
  state: ReservationsState
  hasMore: boolean
}) {
  if (hasMore) return <Empty title="None so far">There are older ones that were not looked at yet.</Empty>
  if (after !== null) return <Empty title="No older ones" />
  const isFiltered = state !== null || quota_id !== null || from !== null || to !== null
  return (
    <Empty title="No reservations">
      {isFiltered ? 'None matches these filters.' : 'What is reserved or sent shows here.'}
    </Empty>
  )
}
