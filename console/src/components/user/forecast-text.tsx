import type { Api } from '../../api/types.ts'
import { LongDate } from '../timestamp.tsx'

const format = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 })
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })

/** Units per day, rounded to two significant digits below 10. */
export function formatDailyRate(rate: number): string {
  const text = rate < 10 ? format.format(rate) : whole.format(rate)
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
