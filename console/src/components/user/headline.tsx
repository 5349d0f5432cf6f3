import type { Api } from '../../api/types.ts'
import { formatUnits } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'
import { LongDate } from '../values.tsx'

type Summary = Api['QuotaSummary']

/** What a user can send now, what is left, and the next reset or expiry, in one sentence. */
export function Headline({ summary, isOwn }: { summary: Summary; isOwn: boolean }) {
  if (summary.limit === 0 && Object.keys(summary.by_status).length === 0) {
    return isOwn ? 'You have no quotas yet.' : 'No quotas yet.'
  }
  return (
    <>
      {summary.available === summary.remaining ? remainingText(summary, isOwn) : availableText(summary, isOwn)}
      <NextChange summary={summary} />
    </>
  )
}

function remainingText({ remaining }: Summary, isOwn: boolean): string {
  if (remaining === null) return isOwn ? 'You can send without limit' : 'Unlimited'
  return isOwn ? `You have ${countText(remaining)} left` : `${capitalized(countText(remaining))} left`
}

/** Caps, scopes and overage make the units that can be sent differ from those that are left. */
function availableText({ available, remaining, breakdown }: Summary, isOwn: boolean): string {
  const units = available === null ? 'any number of units' : countText(available)
  const isScoped = breakdown.some(({ countries, message_types }) => countries !== null || message_types !== null)
  const now = `${isOwn ? `You can send ${units}` : `${capitalized(units)} can be sent`} now`
  const where = isScoped ? `${now} to any destination` : now
  if (remaining === null) return where
  const isOverage = available === null || available > remaining
  return isOverage ? `${where}, including overage` : `${where}, of ${formatUnits(remaining)} left`
}

function countText(units: number): string {
  return `${units === 0 ? 'no' : formatUnits(units)} ${units === 1 ? 'unit' : 'units'}`
}

function capitalized(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`
}

/** The next reset or expiry, whichever comes first. */
function NextChange({ summary: { next_reset, next_expiry } }: { summary: Summary }) {
  if (next_reset !== null && (next_expiry === null || next_reset.at < next_expiry.at)) {
    return (
      <>
        {' until '}
        <LongDate at={next_reset.at} />
        {next_reset.units > 0 &&
          `, when ${texts.values.units(next_reset.units)} ${next_reset.units === 1 ? 'is' : 'are'} restored`}
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
