import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Api } from '../../api/types.ts'
import { Loaded } from '../loaded.tsx'
import { Loading } from '../loading.tsx'
import { Moment } from '../moment.tsx'
import { formatUnits, Units } from '../units.tsx'
import { UsageBar } from '../usage-bar.tsx'
import { Caps } from './caps.tsx'
import { ForecastWords } from './forecast-words.tsx'
import { Headline } from './headline.tsx'
import { Scopes } from './scopes.tsx'
import { readOf, type Subject } from './subject.ts'
import classes from './summary.module.css'

type SummaryOf = Api['QuotaSummary']

/** What a user holds, used and has left, and how long that lasts. */
export function Summary({ subject }: { subject: Subject }) {
  const summary = useQuery(readOf(subject, 'summary'))
  return (
    <Loaded query={summary} loading={<Loading rows={1} height={252} />}>
      {data => (
        <>
          <section className={classes.card} aria-label="Summary">
            <p className={classes.headline}>
              <Headline summary={data} isOwn={subject.isOwn} />
            </p>
            <UsageBar {...data} />
            <Figures summary={data} />
            <Text size="sm" c="dimmed">
              <ForecastWords summary={data} />
            </Text>
          </section>
          <div className={classes.parts}>
            {data.caps.length > 0 && <Caps caps={data.caps} isOwn={subject.isOwn} />}
            {isScoped(data) && <Scopes breakdown={data.breakdown} />}
          </div>
        </>
      )}
    </Loaded>
  )
}

/** One scope that is all of it says nothing that the totals do not. */
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
      <Figure label="Available now" about={availableWords(summary)}>
        <Units value={summary.available} />
      </Figure>
      <Figure label="Over the limit">
        <Units value={summary.overage} />
      </Figure>
      <Figure label="Next reset" about={next_reset && `${formatUnits(next_reset.units)} come back`}>
        <Moment at={next_reset?.at ?? null} none="None" />
      </Figure>
      <Figure label="Next expiry" about={next_expiry && `${formatUnits(next_expiry.units)} would be lost`}>
        <Moment at={next_expiry?.at ?? null} none="None" />
      </Figure>
    </dl>
  )
}

/** Why a message cannot have all that remains, or can have more. */
function availableWords({ available, remaining }: SummaryOf): string | null {
  if (available === remaining) return null
  if (remaining === null || (available !== null && available < remaining)) return 'At once, within caps and scopes'
  return 'With what may go past the limit'
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
