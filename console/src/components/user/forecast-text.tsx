import type { Api } from '../../api/types.ts'
import { formatRate } from '../../formats.ts'
import { LongDate } from '../values.tsx'

/** Units per day, rounded to two significant digits below 10. */
export function formatDailyRate(rate: number): string {
  const text = formatRate(rate)
  return `About ${text} ${text === '1' ? 'unit' : 'units'} per day`
}

/** How long a user can send at the current rate. */
export function ForecastText({ summary }: { summary: Api['QuotaSummary'] }) {
  const { forecast, available, as_of } = summary
  if (forecast === null) return 'No forecast yet: it needs a week of usage.'
  if (forecast.daily_rate === 0) return 'No usage in the last weeks.'
  const rate = formatDailyRate(forecast.daily_rate)
  if (forecast.runs_out_at === null) return `${rate}${available === null ? ', unlimited' : '; lasts more than a year'}.`
  if (forecast.runs_out_at <= as_of) return `${rate}; nothing can be sent now.`
  return (
    <>
      {rate}; runs out around <LongDate at={forecast.runs_out_at} dateOnly />.
    </>
  )
}
