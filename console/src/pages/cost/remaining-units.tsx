import { useQuery } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { formatUnits } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'
import classes from './cost.module.css'

/** The available units of the user, and how many messages of this cost they allow. */
export function RemainingUnits({ units }: { units: number }) {
  const summary = useQuery({
    queryKey: ['summary', 'mine'],
    queryFn: ({ signal }) => request<Api['QuotaSummary']>('/quota/summary', { signal }),
  })
  return (
    <section className={classes.card} aria-label="Your available units">
      <h2 className={classes.heading}>Your available units</h2>
      {summary.data === undefined ? (
        summary.error === null ? (
          <Loading rows={2} height={20} />
        ) : (
          <ErrorNotice variant="load" error={summary.error} onRetry={summary.refetch} />
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
      <p className={classes.remaining}>{availableText(available, units)}</p>
      {isScoped && (
        <p className={classes.about}>Quotas limited to certain countries or message types are not included.</p>
      )}
    </>
  )
}

function availableText(available: number | null, units: number): string {
  if (available === null) return 'Unlimited units: enough for any number of these messages.'
  const times = Math.floor(available / units)
  if (times === 0) return `${texts.values.units(available)}: not enough for this message.`
  return `${texts.values.units(available)}: enough for ${formatUnits(times)} of these messages.`
}
