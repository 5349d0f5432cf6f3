import { UnstyledButton } from '@mantine/core'
import { useCallback } from 'react'
import type { Check, Column } from './data-table.tsx'
import classes from './table-controls.module.css'

/** What a `DataTable` needs for rows that can be sorted and selected. Its class is `table` of the styles beside. */

/** @typeParam Order the orders that the list can have, descending ones with a minus */
export interface SortableColumn<Row, Order extends string> extends Column<Row> {
  /** The order of the first click on its heading, and the other one. */
  orders?: readonly [first: Order, second: Order] | undefined
}

/** The heads of columns with orders, and of what can be done to a row. The others are plain. */
export function headsOf<Order extends string>(sort: Order, onSort: (sort: Order) => void) {
  return <Row,>(column: SortableColumn<Row, Order>) => {
    const { label, kind, orders } = column
    if (kind === 'actions')
      return (
        <td key={label} data-column={kind}>
          {/* For screen readers. */}
          <span className={classes.unseen}>{label}</span>
        </td>
      )
    if (orders === undefined) return null
    const [first, second] = orders
    const order = sort !== first && sort !== second ? 'none' : sort.startsWith('-') ? 'descending' : 'ascending'
    return (
      <th key={label} scope="col" aria-sort={order} data-column={kind}>
        <UnstyledButton className={classes.sort} onClick={() => onSort(sort === first ? second : first)}>
          {label}
          <span aria-hidden>{order === 'ascending' ? '↑' : order === 'descending' ? '↓' : '↕'}</span>
        </UnstyledButton>
      </th>
    )
  }
}

/** Which rows are selected. */
export interface RowSelection<Row> {
  isSelected: (row: Row) => boolean
  /** The same function at each render. */
  onSelect: (rows: readonly Row[], isSelected: boolean) => void
}

interface CheckLabels<Row> {
  row: (row: Row) => string
  page: string
}

/** A checkbox for each row, and one for all. @param labels the same object at each render */
export function useCheck<Row>(
  selection: RowSelection<Row> | undefined,
  rows: readonly Row[],
  labels: CheckLabels<Row>,
): Check<Row> | undefined {
  const onSelect = selection?.onSelect
  const cell = useCallback(
    (row: Row, isSelected: boolean) => (
      <Checkbox label={labels.row(row)} state={isSelected} onChange={checked => onSelect?.([row], checked)} />
    ),
    [labels, onSelect],
  )
  if (selection === undefined) return undefined
  const count = rows.filter(selection.isSelected).length
  const state = count > 0 && count < rows.length ? 'some' : count === rows.length
  return {
    head: <Checkbox label={labels.page} state={state} onChange={() => onSelect?.(rows, state !== true)} />,
    isSelected: selection.isSelected,
    cell,
  }
}

interface CheckboxProps {
  label: string
  state: boolean | 'some'
  onChange: (isChecked: boolean) => void
}

/** Not Mantine's: two hundred of them would be slow to render. The label element makes it easier to hit. */
function Checkbox({ label, state, onChange }: CheckboxProps) {
  return (
    <td data-column="check">
      <label>
        <input
          ref={element => {
            if (element !== null) element.indeterminate = state === 'some'
          }}
          type="checkbox"
          aria-label={label}
          checked={state === true}
          onChange={event => onChange(event.currentTarget.checked)}
        />
      </label>
    </td>
  )
}
