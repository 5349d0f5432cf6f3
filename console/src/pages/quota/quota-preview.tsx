import { lazy, Suspense } from 'react'
import { Loading } from '../../components/loading.tsx'
import { formatters } from './formatters.ts'
import { describeQuota, type Terms } from './quota-description.ts'
import classes from './quota-preview.module.css'

// Loads the calendar library, which the rest of the console does not need.
const WindowDates = lazy(() => import('./window-dates.tsx'))

interface PreviewProps {
  /** null while the limit is missing. */
  terms: Terms | null
  /** Start of the shown windows, in milliseconds since 1970. */
  from: number
}

/** Describes the quota that the form would save, and its next windows. */
export function QuotaPreview({ terms, from }: PreviewProps) {
  return (
    <section className={classes.preview} aria-label="Preview">
      <h2 className={classes.title}>Preview</h2>
      <p className={classes.text} role="status">
        {terms === null ? (
          'Enter a limit to see a description of the quota.'
        ) : (
          <bdi>{describeQuota(terms, formatters)}</bdi>
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
