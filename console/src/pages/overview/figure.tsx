import type { ReactNode } from 'react'
import { Units } from '../../parts/units.tsx'
import classes from './overview.module.css'

/** A number to be seen from afar, and a line about it. */
export function Figure({ value, children }: { value: number; children: ReactNode }) {
  return (
    <>
      <p className={classes.value}>
        <Units value={value} />
      </p>
      <p className={classes.about}>{children}</p>
    </>
  )
}
