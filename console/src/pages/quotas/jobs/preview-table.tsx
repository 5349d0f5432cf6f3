import type { Key } from 'react'
import { type Column, DataTable } from '../../../components/data-table.tsx'
import { ShowMore } from './job-view.tsx'
import classes from './jobs.module.css'

interface PreviewTableProps<Row> {
  caption: string
  columns: readonly Column<Row>[]
  /** The rows to show, and how many more there are. */
  rows: readonly Row[]
  hidden: number
  keyOf: (row: Row) => Key
  onMore: (count: number) => void
  isLoading?: boolean
}

/** What a change of many would do, row by row: first some rows, and at a press further ones. */
export function PreviewTable<Row>({ hidden, onMore, isLoading = false, ...table }: PreviewTableProps<Row>) {
  if (table.rows.length === 0) return null
  return (
    <div className={classes.texts}>
      <DataTable {...table} />
      <ShowMore hidden={hidden} onMore={onMore} isLoading={isLoading} />
    </div>
  )
}
