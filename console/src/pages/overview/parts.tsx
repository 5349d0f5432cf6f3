import { Anchor, Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { DataTable, type DataTableProps } from '../../components/data-table.tsx'
import { Units } from '../../components/values.tsx'
import { texts } from '../../texts/texts.ts'
import classes from './overview.module.css'

interface HeadlineProps {
  value: number
  /** Where the number leads. */
  href?: string | undefined
  children: ReactNode
}

/** A large number with a caption. */
export function HeadlineNumber({ value, href, children }: HeadlineProps) {
  return (
    <>
      <p className={classes.value}>
        {href === undefined ? (
          <Units value={value} />
        ) : (
          <Anchor component={Link} href={href} inherit>
            <Units value={value} />
          </Anchor>
        )}
      </p>
      <p className={classes.about}>{children}</p>
    </>
  )
}

/** Rows of a list that are shown before "Show all". */
const FIRST_ROWS = 5

/**
 * A number that is kept until the console is loaded again: Back leads to the page as it was. It is kept with what was loaded, so that
 * signing out forgets it.
 */
export function useKeptNumber(name: string, first: number): [value: number, keep: (value: number) => void] {
  const client = useQueryClient()
  const key = ['kept', name]
  const [value, setValue] = useState(client.getQueryData<number>(key) ?? first)
  function keep(next: number) {
    client.setQueryDefaults(key, { gcTime: Number.POSITIVE_INFINITY })
    client.setQueryData(key, next)
    setValue(next)
  }
  return [value, keep]
}

/** A choice that is kept as long. */
export function useKeptChoice(name: string): [isChosen: boolean, choose: (isChosen: boolean) => void] {
  const [value, keep] = useKeptNumber(name, 0)
  return [value === 1, isChosen => keep(Number(isChosen))]
}

interface FirstRowsProps<Row> extends DataTableProps<Row> {
  /** The name of the list. */
  list: string
  /** Loads further rows, if there are some. */
  onMore?: (() => void) | undefined
}

/** A table of the first rows of a list, and the buttons that show the others. */
export function FirstRows<Row>({ list, rows, onMore, ...table }: FirstRowsProps<Row>) {
  const [isOpen, setOpen] = useKeptChoice(`all rows: ${list}`)
  const hasHidden = rows.length > FIRST_ROWS && !isOpen
  const { showFewer, showFirst, showAll, showMore } = texts.overview
  return (
    <>
      <DataTable {...table} rows={hasHidden ? rows.slice(0, FIRST_ROWS) : rows} />
      {rows.length > FIRST_ROWS && (
        <Button variant="subtle" size="xs" mt="xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? showFewer : (onMore === undefined ? showAll : showFirst)(rows.length)}
        </Button>
      )}
      {onMore !== undefined && !hasHidden && (
        <Button variant="subtle" size="xs" mt="xs" onClick={onMore}>
          {showMore}
        </Button>
      )}
    </>
  )
}
