import { Code } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Api } from '../api/types.ts'
import { cursor } from '../model/url-parameters.ts'
import { texts } from '../texts/texts.ts'
import { timeColumn } from './columns.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { PagedList } from './paged-list.tsx'
import { useUrlState } from './url-state.ts'
import { Actor } from './values.tsx'

type AnyChange = Api['PlanChange'] | Api['WebhookChange']

interface RecordedChangesProps<Change> {
  page: UseQueryResult<{ items: Change[]; next_cursor: string | null }>
  /** What was changed, from what to what. */
  children: (change: Change) => ReactNode
}

const STATE = { cursor }
const { label, columns } = texts.components.changes

/** Which page of the changes is shown. */
export function useChangesQuery() {
  return { cursor: useUrlState(STATE)[0].cursor, page_size: 20 }
}

/** Who changed a plan or a webhook, when and how, newest first. */
export function RecordedChanges<Change extends AnyChange>({ page, children }: RecordedChangesProps<Change>) {
  const [state, change] = useUrlState(STATE)
  return (
    <PagedList page={page} cursor={state.cursor} onCursor={next => change({ cursor: next })} none={null}>
      {(rows, isStale) => (
        <DataTable columns={columnsOf(children)} keyOf={({ version }) => version} {...{ label, rows, isStale }} />
      )}
    </PagedList>
  )
}

const columnsOf = <Change extends AnyChange>(cell: (change: Change) => ReactNode): readonly Column<Change>[] => [
  { label: columns.change, cell },
  { label: columns.by, kind: 'name', cell: ({ actor }) => <Actor subject={actor} /> },
  timeColumn(columns.at, ({ at }) => at),
  {
    label: columns.request,
    kind: 'name',
    // The service makes some changes by itself.
    cell: ({ request_id }) => (request_id === null ? '–' : <Code>{request_id}</Code>),
  },
]
