import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { cursor } from '../model/url-parameters.ts'
import { type Changes, changesQuery } from '../queries/recorded-changes.ts'
import { texts } from '../texts/texts.ts'
import { timeColumn } from './columns.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { PagedList } from './paged-list.tsx'
import { useUrlState } from './url-state.ts'
import { Actor } from './values.tsx'

interface RecordedChangesProps<Of extends keyof Changes> {
  of: Of
  id: number
  /** What was changed, from what to what. */
  children: (change: Changes[Of]) => ReactNode
}

const STATE = { cursor }
const { label, columns } = texts.components.changes

/** Who changed a plan or a webhook, when and how, newest first. */
export function RecordedChanges<Of extends keyof Changes>({ of, id, children }: RecordedChangesProps<Of>) {
  const [state, change] = useUrlState(STATE)
  const changes = useQuery(changesQuery(of, id, state.cursor))
  return (
    <PagedList page={changes} cursor={state.cursor} onCursor={next => change({ cursor: next })} none={null}>
      {(rows, isStale) => (
        <DataTable columns={columnsOf(children)} keyOf={({ version }) => version} {...{ label, rows, isStale }} />
      )}
    </PagedList>
  )
}

const columnsOf = <Change extends Changes[keyof Changes]>(
  cell: (change: Change) => ReactNode,
): readonly Column<Change>[] => [
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
