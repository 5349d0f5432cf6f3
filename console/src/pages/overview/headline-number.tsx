import type { ReactNode } from 'react'
import { Units } from '../../components/values.tsx'
import classes from './overview.module.css'

/** A large number with a caption. */
export function HeadlineNumber({ value, children }: { value: number; children: ReactNode }) {
  return (
    <>
      <p className={classes.value}>
        <Units value={value} />
      </p>
      <p className={classes.about}>{children}</p>
    </>
  )
}
