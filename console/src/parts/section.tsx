import { Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './section.module.css'

/** A part of a page under a heading of its own, with what can be done with it beside that. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  const id = useId()
  return (
    <section className={classes.section} aria-labelledby={id}>
      <div className={classes.head}>
        <Title order={2} size="h5" id={id}>
          {title}
        </Title>
        {aside}
      </div>
      {children}
    </section>
  )
}
