import { Table } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { UsageBar } from '../../components/usage-bar.tsx'
import { Timestamp, Units } from '../../components/values.tsx'
import { PagedRecords } from './paged-records.tsx'
import classes from './past-windows.module.css'

type Window = Api['QuotaWindow']

const EMPTY = {
  title: 'No past windows',
  hint: 'Windows with usage appear here after they end.',
}

/** The ended windows of a quota. */
export function PastWindows({ id }: { id: number }) {
  return (
    <PagedRecords<Window>
      id={id}
      resource="windows"
      empty={EMPTY}
      render={(windows, isStale) => <WindowTable windows={windows} isStale={isStale} />}
    />
  )
}

function WindowTable({ windows, isStale }: { windows: Window[]; isStale: boolean }) {
  return (
    <Table
      className={classes.table ?? ''}
      aria-label="Past windows"
      aria-busy={isStale}
      data-stale={isStale || undefined}
    >
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">From</Table.Th>
          <Table.Th scope="col">Until</Table.Th>
          <Table.Th scope="col">Usage</Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Limit
          </Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Rolled over in
          </Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Rolled over out
          </Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Released
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {windows.map(window => (
          <Table.Tr key={window.window_no}>
            <Table.Th scope="row" data-label="From">
              <Timestamp at={window.window_start} />
            </Table.Th>
            <Table.Td data-label="Until">
              <Timestamp at={window.window_end} />
            </Table.Td>
            <Table.Td data-label="Usage" className={classes.usage ?? ''}>
              <UsageBar {...window} />
            </Table.Td>
            <Table.Td data-label="Limit" className={classes.number ?? ''}>
              <Units value={window.limit} />
            </Table.Td>
            <Table.Td data-label="Rolled over in" className={classes.number ?? ''}>
              <Units value={window.rolled_over} />
            </Table.Td>
            <Table.Td data-label="Rolled over out" className={classes.number ?? ''}>
              <Units value={window.carried} />
            </Table.Td>
            <Table.Td data-label="Released" className={classes.number ?? ''}>
              <Units value={window.released} none="–" />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
