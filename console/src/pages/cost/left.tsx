import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { formatUnits, unitWords } from '../../parts/units.tsx'
import classes from './cost.module.css'

/** What the user has left, and how many messages of this cost that is. */
export function Left({ units }: { units: number }) {
  const summary = useQuery({
    queryKey: ['summary', 'mine'],
    queryFn: ({ signal }) => request<Api['QuotaSummary']>('/quota/summary', { signal }),
  })
  return (
    <section className={classes.card} aria-label="What you have left">
      <h2 className={classes.heading}>What you have left</h2>
      {summary.data === undefined ? (
        summary.error === null ? (
          <Loading rows={2} height={20} />
        ) : (
          <Failure error={summary.error} onRetry={summary.refetch} />
        )
      ) : (
        <Available summary={summary.data} units={units} />
      )}
    </section>
  )
}

function Available({ summary: { available, breakdown }, units }: { summary: Api['QuotaSummary']; units: number }) {
  const isScoped = breakdown.some(({ countries, message_types }) => countries !== null || message_types !== null)
  return (
    <>
      <p className={classes.left}>{wordsFor(available, units)}</p>
      {isScoped && (
        <p className={classes.about}>Quotas for certain countries or kinds of messages are not counted here.</p>
      )}
    </>
  )
}

function wordsFor(available: number | null, units: number): string {
  if (available === null) return 'As many units as you like: enough for any number of such messages.'
  const times = Math.floor(available / units)
  if (times === 0) return `${unitWords(available)}: not enough for this message.`
  return `${unitWords(available)}: enough for ${formatUnits(times)} such ${times === 1 ? 'message' : 'messages'}.`
}
