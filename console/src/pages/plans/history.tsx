import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Api } from '../../api/types.ts'
import { timeColumn } from '../../components/columns.tsx'
import { CursorPager } from '../../components/cursor-pager.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { Actor } from '../../components/values.tsx'
import { cursor } from '../../model/url-parameters.ts'
import { planHistoryQuery } from '../../queries/plans.ts'
import { texts } from '../../texts/texts.ts'
import { PlanChanges } from './plan-changes.tsx'

const STATE = { cursor }
const { history: words } = texts.plans

/** Who changed the plan, when, and from what to what. */
export default function History({ plan: { id } }: { plan: Api['PlanDetail'] }) {
  const [state, change] = useUrlState(STATE)
  const changes = useQuery(planHistoryQuery(id, state.cursor))
  return (
    <Loaded query={changes} loading={<Loading rows={4} height={44} />}>
      {({ items, next_cursor }) => (
        <>
          <DataTable
            label={words.label}
            columns={COLUMNS}
            rows={items}
            keyOf={({ version }) => version}
            isStale={changes.isPlaceholderData}
          />
          <CursorPager cursor={state.cursor} next={next_cursor} onCursor={next => change({ cursor: next })} />
        </>
      )}
    </Loaded>
  )
}

const COLUMNS: readonly Column<Api['PlanChange']>[] = [
  {
    label: words.columns.change,
    cell: ({ action, before, after }) => (
      <>
        {words.actions[action]}
        {action !== 'archived' && <PlanChanges before={before ?? {}} after={after} />}
      </>
    ),
  },
  { label: words.columns.by, kind: 'name', cell: ({ actor }) => <Actor subject={actor} /> },
  timeColumn(words.columns.at, ({ at }) => at),
  { label: words.columns.request, kind: 'name', cell: ({ request_id }) => <Code>{request_id}</Code> },
]
