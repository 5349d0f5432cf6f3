import { type Key, type ReactNode, useMemo } from 'react'
import classes from './data-table.module.css'
import { useDensity } from './density.ts'

/** A column of a table, whose rows are of a type. */
export interface Column<Row> {
  /** Its heading, and the label of its cells on a card. Empty if it has neither. */
  label: string
  cell: (row: Row) => ReactNode
  /** What it holds, for alignment and width. */
  kind?: 'actions' | 'name' | 'number' | 'scope' | 'state' | 'usage' | 'user'
  /** The label on the card of a row, if it differs from the heading. */
  cardLabel?: (row: Row) => string
}

export interface DataTableProps<Row, C extends Column<Row> = Column<Row>> {
  /** Its name, unless it has a caption. */
  label?: string
  caption?: string
  /** The cells of the first one are the heads of their rows. Another array renders all rows again. */
  columns: readonly C[]
  rows: readonly Row[]
  keyOf: (row: Row) => Key
  /** Rows of a section, which is the default, or records of a page: on narrow screens, both become cards. A plain table does not. */
  look?: 'panel' | 'records' | 'plain'
  className?: string | undefined
  /** Whether newer rows are being loaded. */
  isStale?: boolean
  /** The head of a column that is not a plain one; see `table-controls.tsx`. */
  headOf?: (column: C) => ReactNode
  check?: Check<Row> | undefined
  /** Whether a row does not count now. */
  isInactive?: (row: Row) => boolean
}

/** A cell before the others, with a checkbox. */
export interface Check<Row> {
  head: ReactNode
  isSelected: (row: Row) => boolean
  /** The same function at each render. */
  cell: (row: Row, isSelected: boolean) => ReactNode
}

export function DataTable<Row, C extends Column<Row> = Column<Row>>(props: DataTableProps<Row, C>) {
  const { label, caption, columns, rows, keyOf, look = 'panel', className = '' } = props
  const { isStale, headOf, check, isInactive } = props
  const density = useDensity()
  return (
    <table
      className={`${classes[look]} ${className}`}
      aria-label={label}
      aria-busy={isStale}
      data-stale={isStale || undefined}
      data-density={density}
    >
      {caption !== undefined && <caption>{caption}</caption>}
      <thead>
        <tr>
          {check?.head}
          {columns.map(column => headOf?.(column) ?? <Head key={column.label} {...column} />)}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row
            key={keyOf(row)}
            row={row}
            columns={columns}
            isInactive={isInactive?.(row) ?? false}
            isSelected={check?.isSelected(row) ?? false}
            checkCell={check?.cell}
          />
        ))}
      </tbody>
    </table>
  )
}

function Head({ label, kind }: Pick<Column<never>, 'label' | 'kind'>) {
  // An empty heading would be none to screen readers.
  if (label === '') return <td />
  return (
    <th scope="col" data-column={kind}>
      {label}
    </th>
  )
}

interface RowProps<Row> {
  row: Row
  columns: readonly Column<Row>[]
  isInactive: boolean
  isSelected: boolean
  checkCell: Check<Row>['cell'] | undefined
}

/** Rendered again only if something of the row has changed: a page can have two hundred. */
function Row<Row>({ row, columns, isInactive, isSelected, checkCell }: RowProps<Row>) {
  return useMemo(
    () => (
      <tr data-inactive={isInactive || undefined} data-selected={isSelected || undefined}>
        {checkCell?.(row, isSelected)}
        {columns.map((column, index) => {
          const { label, kind, cell, cardLabel } = column
          const attributes = { 'data-column': kind, 'data-label': cardLabel?.(row) ?? label }
          return index === 0 ? (
            <th key={label} scope="row" {...attributes}>
              {cell(row)}
            </th>
          ) : (
            <td key={label} {...attributes}>
              <div>{cell(row)}</div>
            </td>
          )
        })}
      </tr>
    ),
    [row, columns, isInactive, isSelected, checkCell],
  )
}
