import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { timeColumn } from '../../components/columns.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { Actor } from '../../components/values.tsx'
import type { Change } from '../../model/audit.ts'
import { cursor } from '../../model/url-parameters.ts'
import { changesQuery } from '../../queries/audit.ts'
import { texts } from '../../texts/texts.ts'
import { WhatChanged } from './what-changed.tsx'

const STATE = { cursor }
const { table, columns } = texts.changes

/** Who changed a plan or a webhook, when and how, newest first. */
export function RecordedChanges(thing: { resource: Change['resource']; thing_id: number }) {
  const [state] = useUrlState(STATE)
  const changes = useQuery(changesQuery(thing, state.cursor))
  return (
    <PagedList page={changes} none={null}>
      {(rows, isStale) => (
        <DataTable label={table} columns={COLUMNS} keyOf={({ version }) => String(version)} {...{ rows, isStale }} />
      )}
    </PagedList>
  )
}

const COLUMNS: readonly Column<Change>[] = [
  { label: columns.change, cell: change => <WhatChanged change={change} /> },
  { label: columns.by, kind: 'name', cell: ({ actor }) => <Actor subject={actor} /> },
  timeColumn(columns.at, ({ at }) => at),
  {
    label: columns.request,
    kind: 'name',
    // The service makes some changes by itself.
    cell: ({ request_id }) => (request_id === null ? '–' : <Code>{request_id}</Code>),
  },
]
