import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import { texts } from '../../texts/texts.ts'
import { Loaded } from '../loaded.tsx'
import { Loading } from '../loading.tsx'
import { UsageBar } from '../usage-bar.tsx'
import { Timestamp, Units } from '../values.tsx'
import { Caps } from './caps.tsx'
import { ForecastText } from './forecast-text.tsx'
import { Headline } from './headline.tsx'
import { ScopeBreakdown } from './scope-breakdown.tsx'
import classes from './summary.module.css'
import { type ViewedUser, viewedUserQuery } from './viewed-user.ts'

type SummaryOf = Api['QuotaSummary']

/** A user's totals, forecast, caps and scopes. */
export function Summary({ user }: { user: ViewedUser }) {
  const summary = useQuery(viewedUserQuery(user, 'summary'))
  return (
    <Loaded query={summary} loading={<Loading rows={1} height={252} />}>
      {data => (
        <>
          <section className={classes.card} aria-label="Summary">
            <p className={classes.headline}>
              <Headline summary={data} isOwn={user.isOwn} />
            </p>
            <UsageBar {...data} />
            <Figures summary={data} />
            <Text size="sm" c="dimmed">
              <ForecastText summary={data} />
            </Text>
          </section>
          <div className={classes.parts}>
            {data.caps.length > 0 && <Caps caps={data.caps} isOwn={user.isOwn} />}
            {isScoped(data) && <ScopeBreakdown breakdown={data.breakdown} />}
          </div>
        </>
      )}
    </Loaded>
  )
}

/** A single unrestricted scope would only repeat the totals. */
function isScoped({ breakdown }: SummaryOf): boolean {
  return breakdown.some(({ countries, message_types }) => countries !== null || message_types !== null)
}

function Figures({ summary }: { summary: SummaryOf }) {
  const { next_reset, next_expiry } = summary
  return (
    <dl className={classes.figures}>
      <Figure label="Limit">
        <Units value={summary.limit} />
      </Figure>
      <Figure label="Used">
        <Units value={summary.used} />
      </Figure>
      <Figure label="Reserved">
        <Units value={summary.reserved} />
      </Figure>
      <Figure label="Remaining">
        <Units value={summary.remaining} />
      </Figure>
      <Figure label="Available now" about={availableHint(summary)}>
        <Units value={summary.available} />
      </Figure>
      <Figure label="Over the limit">
        <Units value={summary.overage} />
      </Figure>
      <Figure label="Next reset" about={next_reset && `${texts.values.units(next_reset.units)} restored`}>
        <Timestamp at={next_reset?.at ?? null} none="None" />
      </Figure>
      <Figure label="Next expiry" about={next_expiry && expiryHint(next_expiry.units)}>
        <Timestamp at={next_expiry?.at ?? null} none="None" />
      </Figure>
    </dl>
  )
}

function expiryHint(units: number | null): string {
  return units === null ? 'Unlimited until then' : `${texts.values.units(units)} would expire`
}

/** Why `available` differs from `remaining`. */
function availableHint({ available, remaining }: SummaryOf): string | null {
  if (available === remaining) return null
  if (remaining === null || (available !== null && available < remaining))
    return 'In one message, within caps and scopes'
  return 'Including overage'
}

function Figure({ label, about, children }: { label: string; about?: string | null; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className={classes.value}>{children}</dd>
      {about && <dd className={classes.about}>{about}</dd>}
    </div>
  )
}
