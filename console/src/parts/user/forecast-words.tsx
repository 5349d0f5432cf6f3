import type { Api } from '../../api/types.ts'
import { Day } from '../moment.tsx'

const format = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 2 })
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })

/** What is used a day, no more exactly than it can be known. */
export function rateWords(rate: number): string {
  const words = rate < 10 ? format.format(rate) : whole.format(rate)
  return `About ${words} ${words === '1' ? 'unit' : 'units'} a day`
}

/** How long a user's units last, if they go on like that. */
export function ForecastWords({ summary }: { summary: Api['QuotaSummary'] }) {
  const { forecast, remaining, unlimited } = summary
  if (forecast === null) return 'Too early to tell: a forecast needs a week of use.'
  if (forecast.daily_rate === 0) return 'Nothing was used in the last weeks.'
  const rate = rateWords(forecast.daily_rate)
  if (unlimited) return `${rate}, without a limit.`
  if (remaining === 0) return `${rate}; none are left now.`
  if (forecast.runs_out_at === null) return `${rate}; that lasts for a year and more.`
  return (
    <>
      {rate}; runs out around <Day at={forecast.runs_out_at} isRough />.
    </>
  )
}
