import type { Key, ReactNode } from 'react'
import table from '../../../components/panel-table.module.css'
import { Table } from '../../../components/table.tsx'
import { ShowMore } from './job-view.tsx'
import classes from './jobs.module.css'

interface PreviewTableProps<Row> {
  caption: string
  /** The first cell is the head of its row. */
  columns: readonly { label: string; cell: (row: Row) => ReactNode }[]
  /** The rows to show, and how many more there are. */
  rows: readonly Row[]
  hidden: number
  keyOf: (row: Row) => Key
  onMore: (count: number) => void
  isLoading?: boolean
}

/** What a change of many would do, row by row: first some rows, and at a press further ones. */
export function PreviewTable<Row>({ caption, columns, rows, hidden, keyOf, ...more }: PreviewTableProps<Row>) {
  const [head, ...others] = columns
  if (rows.length === 0 || head === undefined) return null
  return (
    <div className={classes.texts}>
      <Table className={`${table.table} ${table.cards}`}>
        <Table.Caption className={classes.caption}>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ label }) => (
              <Table.Th key={label} scope="col">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(row => (
            <Table.Tr key={keyOf(row)}>
              <Table.Th scope="row">{head.cell(row)}</Table.Th>
              {others.map(({ label, cell }) => (
                <Table.Td key={label} data-label={label}>
                  {cell(row)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <ShowMore hidden={hidden} {...more} />
    </div>
  )
}
