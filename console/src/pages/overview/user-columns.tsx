import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Column } from '../../components/data-table.tsx'
import { Units } from '../../components/values.tsx'

/** Denied units, which lead to the denials. */
export function deniedColumn<Row>(label: string, of: (row: Row) => number, urlOf: (row: Row) => string): Column<Row> {
  return {
    label,
    kind: 'number',
    cell: row =>
      of(row) === 0 ? (
        <Units value={0} />
      ) : (
        <Anchor component={Link} href={urlOf(row)} size="sm">
          <Units value={of(row)} />
        </Anchor>
      ),
  }
}
