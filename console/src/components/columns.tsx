import { texts } from '../texts/texts.ts'
import type { Column } from './data-table.tsx'
import { Timestamp, Units } from './values.tsx'

/** Columns that many tables have. */

/** Numbers. @param none the text for null; "unlimited" if left out */
export function unitsColumn<Row>(
  label: string,
  of: (row: Row) => number | null,
  none = texts.values.unlimited,
): Column<Row> {
  return { label, kind: 'number', cell: row => <Units value={of(row)} none={none} /> }
}

/** Dates with times. @param noneOf the text for null */
export function timeColumn<Row>(
  label: string,
  of: (row: Row) => string | null,
  noneOf: (row: Row) => string = () => '–',
): Column<Row> {
  return { label, cell: row => <Timestamp at={of(row)} none={noneOf(row)} /> }
}
