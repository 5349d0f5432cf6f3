import { Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './section.module.css'

interface SectionProps {
  title: string
  /** At the end of the heading row: a hint or actions. */
  aside?: ReactNode
  /** Draws a border, for sections that are side by side. */
  isFramed?: boolean
  children: ReactNode
}

/** A part of a page with its own h2. */
export function Section({ title, aside, isFramed = false, children }: SectionProps) {
  const id = useId()
  return (
    <section className={classes.section} data-framed={isFramed || undefined} aria-labelledby={id}>
      <div className={classes.head}>
        <Title order={2} size={isFramed ? 'sm' : 'h5'} id={id}>
          {title}
        </Title>
        {aside}
      </div>
      {children}
    </section>
  )
}
