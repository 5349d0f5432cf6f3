import type { ComponentProps } from 'react'
import classes from './table.module.css'

interface TableProps extends ComponentProps<'table'> {
  /** Keeps the head in sight while the rows scroll. */
  stickyHeader?: boolean
}

/** A table with its parts. Mantine's brings a scroll area, and with that 30 kB, to every page that has a table. */
export const Table = Object.assign(TableRoot, {
  Caption: 'caption',
  Thead: 'thead',
  Tbody: 'tbody',
  Tr: 'tr',
  Th: 'th',
  Td: 'td',
} as const)

function TableRoot({ className = '', stickyHeader = false, ...props }: TableProps) {
  return <table {...props} className={`${classes.root} ${className}`} data-sticky-header={stickyHeader || undefined} />
}
