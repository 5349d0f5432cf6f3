import type { Api } from '../../api/types.ts'
import { LongDate } from '../timestamp.tsx'
import { formatUnitCount, formatUnits } from '../units.tsx'

type Summary = Api['QuotaSummary']

/** A user's remaining units and their next reset or expiry, in one sentence. */
export function Headline({ summary, isOwn }: { summary: Summary; isOwn: boolean }) {
  if (summary.limit === 0 && Object.keys(summary.by_status).length === 0) {
    return isOwn ? 'You have no quotas yet.' : 'No quotas yet.'
  }
  return (
    <>
      {remainingText(summary, isOwn)}
      <NextChange summary={summary} />
    </>
  )
}

function remainingText({ remaining }: Summary, isOwn: boolean): string {
  if (remaining === null) return isOwn ? 'You can send without limit' : 'Unlimited'
  const units = `${remaining === 0 ? 'no' : formatUnits(remaining)} ${remaining === 1 ? 'unit' : 'units'}`
  return isOwn ? `You have ${units} left` : `${units[0]?.toUpperCase()}${units.slice(1)} left`
}

/** The next reset or expiry, whichever comes first. */
function NextChange({ summary: { next_reset, next_expiry } }: { summary: Summary }) {
  if (next_reset !== null && (next_expiry === null || next_reset.at < next_expiry.at)) {
    return (
      <>
        {' until '}
        <LongDate at={next_reset.at} />
        {next_reset.units > 0 &&
          `, when ${formatUnitCount(next_reset.units)} ${next_reset.units === 1 ? 'is' : 'are'} restored`}
        .
      </>
    )
  }
  if (next_expiry !== null && next_expiry.units !== 0) {
    return (
      <>
        {`; ${expiringText(next_expiry.units)} on `}
        <LongDate at={next_expiry.at} />.
      </>
    )
  }
  return '.'
}

function expiringText(units: number | null): string {
  if (units === null) return 'an unlimited quota ends'
  return `${formatUnits(units)} ${units === 1 ? 'expires' : 'expire'}`
}
