import { Anchor, Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { Units } from '../../components/values.tsx'
import { overviewTexts } from '../../texts/overview.ts'
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

const kept = new Set<string>()

/** A choice that is kept until the console is loaded again: Back leads to the page as it was. */
export function useKeptChoice(name: string): [isChosen: boolean, choose: (isChosen: boolean) => void] {
  const [isChosen, setChosen] = useState(kept.has(name))
  function choose(value: boolean) {
    if (value) kept.add(name)
    else kept.delete(name)
    setChosen(value)
  }
  return [isChosen, choose]
}

/** The first rows of a list, and the button that shows all; null if there are no more. @param list its name */
export function useFirstRows<T>(list: string, rows: readonly T[]): [shown: readonly T[], button: ReactNode] {
  const [isOpen, setOpen] = useKeptChoice(`all rows: ${list}`)
  if (rows.length <= FIRST_ROWS) return [rows, null]
  const button = (
    <Button variant="subtle" size="xs" mt="xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
      {isOpen ? overviewTexts.showFewer : overviewTexts.showAll(rows.length)}
    </Button>
  )
  return [isOpen ? rows : rows.slice(0, FIRST_ROWS), button]
}
