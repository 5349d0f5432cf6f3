import type { Api } from '../../api/types.ts'
import { Day } from '../moment.tsx'
import { formatUnits } from '../units.tsx'

type Summary = Api['QuotaSummary']

/** What a user has left, and what becomes of it next, in one sentence. */
export function Headline({ summary, isOwn }: { summary: Summary; isOwn: boolean }) {
  if (summary.limit === 0 && Object.keys(summary.by_status).length === 0) {
    return isOwn ? 'You have no quotas yet.' : 'No quotas yet.'
  }
  return (
    <>
      {leftWords(summary, isOwn)}
      <Turn summary={summary} />
    </>
  )
}

function leftWords({ remaining }: Summary, isOwn: boolean): string {
  if (remaining === null) return isOwn ? 'You can send without a limit' : 'Unlimited'
  const units = `${remaining === 0 ? 'no' : formatUnits(remaining)} ${remaining === 1 ? 'unit' : 'units'}`
  return isOwn ? `You have ${units} left` : `${units[0]?.toUpperCase()}${units.slice(1)} left`
}

/** Whichever comes first: units that come back, or units that are lost. */
function Turn({ summary: { next_reset, next_expiry } }: { summary: Summary }) {
  if (next_reset !== null && (next_expiry === null || next_reset.at < next_expiry.at)) {
    return (
      <>
        {' until '}
        <Day at={next_reset.at} />
        {next_reset.units > 0 && `, when ${countWords(next_reset.units, 'comes back', 'come back')}`}.
      </>
    )
  }
  if (next_expiry !== null && next_expiry.units > 0) {
    return (
      <>
        {`; ${countWords(next_expiry.units, 'expires', 'expire')} on `}
        <Day at={next_expiry.at} />.
      </>
    )
  }
  return '.'
}

function countWords(units: number, one: string, many: string): string {
  return `${formatUnits(units)} ${units === 1 ? one : many}`
}
