import { lazy, Suspense } from 'react'
import { Loading } from '../../parts/loading.tsx'
import { effectOf, type Terms } from './effect.ts'
import classes from './effect-preview.module.css'
import { writing } from './writing.ts'

// Brings the calendar's arithmetic along, which nothing else in the console needs.
const WindowDates = lazy(() => import('./window-dates.tsx'))

interface EffectProps {
  /** null while there is no telling. */
  terms: Terms | null
  /** The moment from which its windows are shown, in milliseconds since 1970. */
  from: number
}

/** What the form would make, said while it is written. */
export function EffectPreview({ terms, from }: EffectProps) {
  return (
    <section className={classes.preview} aria-label="What it does">
      <h2 className={classes.title}>What it does</h2>
      <p className={classes.words} role="status">
        {terms === null ? (
          'Fill in the limit, and its effect stands here in words.'
        ) : (
          <bdi>{effectOf(terms, writing)}</bdi>
        )}
      </p>
      {terms !== null && (
        <Suspense fallback={<Loading rows={3} height={20} />}>
          <WindowDates terms={terms} from={from} />
        </Suspense>
      )}
    </section>
  )
}
