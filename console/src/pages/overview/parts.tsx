import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { DataTable, type DataTableProps } from '../../components/data-table.tsx'
import { texts } from '../../texts/texts.ts'

/** Rows of a list that are shown before "Show all". */
const FIRST_ROWS = 5

/**
 * A choice that is kept until the console is loaded again: Back leads to the page as it was. It is kept with what was loaded, so that
 * signing out forgets it.
 */
function useKeptChoice(name: string): [isChosen: boolean, choose: (isChosen: boolean) => void] {
  const client = useQueryClient()
  const key = ['kept', name]
  const [isChosen, setChosen] = useState(client.getQueryData<boolean>(key) ?? false)
  function choose(next: boolean) {
    client.setQueryDefaults(key, { gcTime: Number.POSITIVE_INFINITY })
    client.setQueryData(key, next)
    setChosen(next)
  }
  return [isChosen, choose]
}

interface FirstRowsProps<Row> extends DataTableProps<Row> {
  /** The name of the list. */
  list: string
}

/** A table of the first rows of a list, and the button that shows the others. */
export function FirstRows<Row>({ list, rows, ...table }: FirstRowsProps<Row>) {
  const [isOpen, setOpen] = useKeptChoice(`all rows: ${list}`)
  const hasHidden = rows.length > FIRST_ROWS && !isOpen
  const { showFewer, showAll } = texts.overview
  return (
    <>
      <DataTable {...table} rows={hasHidden ? rows.slice(0, FIRST_ROWS) : rows} />
      {rows.length > FIRST_ROWS && (
        <Button variant="subtle" size="xs" mt="xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? showFewer : showAll(rows.length)}
        </Button>
      )}
    </>
  )
}
