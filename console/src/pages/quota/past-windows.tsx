import { Table } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { Moment } from '../../parts/moment.tsx'
import { Units } from '../../parts/units.tsx'
import { UsageBar } from '../../parts/usage-bar.tsx'
import classes from './past-windows.module.css'
import { Records } from './records.tsx'

type Window = Api['QuotaWindow']

const NONE = {
  title: 'No past windows',
  words: 'A window comes here when it has ended and something happened in it.',
}

/** The windows that a quota has left behind. */
export function PastWindows({ id }: { id: number }) {
  return (
    <Records<Window>
      id={id}
      of="windows"
      none={NONE}
      show={(windows, isOld) => <WindowTable windows={windows} isOld={isOld} />}
    />
  )
}

function WindowTable({ windows, isOld }: { windows: Window[]; isOld: boolean }) {
  return (
    <Table className={classes.table ?? ''} aria-label="Past windows" aria-busy={isOld} data-old={isOld || undefined}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">From</Table.Th>
          <Table.Th scope="col">Until</Table.Th>
          <Table.Th scope="col">Usage</Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Limit
          </Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Carried in
          </Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Carried on
          </Table.Th>
          <Table.Th scope="col" className={classes.number ?? ''}>
            Let go
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {windows.map(window => (
          <Table.Tr key={window.window_no}>
            <Table.Th scope="row" data-label="From">
              <Moment at={window.window_start} />
            </Table.Th>
            <Table.Td data-label="Until">
              <Moment at={window.window_end} />
            </Table.Td>
            <Table.Td data-label="Usage" className={classes.usage ?? ''}>
              <UsageBar {...window} />
            </Table.Td>
            <Table.Td data-label="Limit" className={classes.number ?? ''}>
              <Units value={window.limit} />
            </Table.Td>
            <Table.Td data-label="Carried in" className={classes.number ?? ''}>
              <Units value={window.rolled_over} />
            </Table.Td>
            <Table.Td data-label="Carried on" className={classes.number ?? ''}>
              <Units value={window.carried} />
            </Table.Td>
            <Table.Td data-label="Let go" className={classes.number ?? ''}>
              <Units value={window.released} none="–" />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
