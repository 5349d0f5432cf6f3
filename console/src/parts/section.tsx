import { Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './section.module.css'

interface SectionProps {
  title: string
  /** Stands at the end of its heading: what it is about, or what can be done with it. */
  aside?: ReactNode
  /** Whether it stands beside others. */
  isFramed?: boolean
  children: ReactNode
}

/** A part of a page under a heading of its own. */
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
