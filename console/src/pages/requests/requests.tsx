import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { ChoiceFilter, UserFilter } from '../../components/filter-fields.tsx'
import { requestColumns } from '../../components/increase-requests/columns.tsx'
import { type Deciding, decisionColumn } from '../../components/increase-requests/decisions.tsx'
import { EmptyState } from '../../components/loaded.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { UserLink } from '../../components/user-link.tsx'
import type { IncreaseRequest } from '../../model/increase-requests.ts'
import { cursor, oneOf, type StateOf, uint } from '../../model/url-parameters.ts'
import { requestsQuery } from '../../queries/increase-requests.ts'
import { adjustsQuotas } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'

const DecisionDialog = lazy(() => import('../../components/increase-requests/decision-dialog.tsx'))

const words = texts.increaseRequests
/** What is shown in place of open requests. */
const OTHERS = ['approved', 'declined', 'withdrawn', 'all'] as const
const DECISIONS = ['approve', 'decline'] as const
const STATE = {
  show: oneOf(['open', ...OTHERS], 'open'),
  user_id: uint,
  cursor,
  /** The request that a dialog shows, and its user; messages link to it. */
  request: uint,
  of: uint,
  decision: oneOf(DECISIONS, 'approve'),
}
type State = StateOf<typeof STATE>

/** Users' requests for more units: those that wait for a decision, and those that are closed. */
export default function Requests() {
  const [state, change] = useUrlState(STATE)
  const [done, setDone] = useState('')
  const { show, user_id } = state
  const requests = useQuery(requestsQuery({ status: show === 'all' ? null : show, user_id }, state.cursor))
  const deciding = useDeciding(state)
  const columns = columnsOf(useCaller(), ({ id, user_id: of, decision }) => change({ request: id, of, decision }))
  return (
    <>
      <PageTitle title={words.title} about={words.about} />
      <Filters state={state} onChange={part => change({ cursor: null, ...part })} />
      <Text size="sm" role="status">
        {done}
      </Text>
      <PagedList
        page={requests}
        isFiltered={show !== 'open' || user_id !== null}
        none={<EmptyState title={words.none}>{words.noneAbout}</EmptyState>}
      >
        {(rows, isStale) => (
          <DataTable look="records" label={words.title} keyOf={({ id }) => id} {...{ columns, rows, isStale }} />
        )}
      </PagedList>
      <Suspense>
        <DecisionDialog
          deciding={deciding}
          onClose={() => change({ request: null, of: null, decision: 'approve' })}
          onDone={setDone}
        />
      </Suspense>
    </>
  )
}

/** The request that the URL names; the same object as long as it does. */
function useDeciding({ request: id, of: user_id, decision }: State): Deciding | null {
  return useMemo(() => (id === null || user_id === null ? null : { id, user_id, decision }), [id, user_id, decision])
}

function Filters({ state, onChange }: { state: State; onChange: (part: Partial<State>) => void }) {
  return (
    <search>
      <Group gap="sm" mb="md" align="flex-start">
        <ChoiceFilter
          words={{ label: words.show, all: words.states.open }}
          choices={OTHERS}
          labels={{ ...words.states, all: words.all }}
          value={state.show === 'open' ? null : state.show}
          onApply={show => onChange({ show: show ?? 'open' })}
        />
        <UserFilter value={state.user_id} onApply={user_id => onChange({ user_id })} />
      </Group>
    </search>
  )
}

function columnsOf(
  caller: ReturnType<typeof useCaller>,
  onDecide: (deciding: Deciding) => void,
): Column<IncreaseRequest>[] {
  const user: Column<IncreaseRequest> = {
    label: words.columns.user,
    kind: 'user',
    cell: request => <UserLink user={request} />,
  }
  const columns = [user, ...requestColumns(false)]
  return adjustsQuotas(caller) ? [...columns, decisionColumn(caller.adjust_limit, onDecide)] : columns
}
