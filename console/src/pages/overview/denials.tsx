import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { DENIAL_REASONS } from '../../../../src/domain/reservation.ts'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { Units } from '../../components/values.tsx'
import { formatClock } from '../../formats.ts'
import { denialsUrl } from '../../model/denial-filters.ts'
import { useLastDay } from '../../queries/overview.ts'
import { texts } from '../../texts/texts.ts'
import chart from './hourly-chart.module.css'
import classes from './overview.module.css'
import { HeadlineNumber } from './parts.tsx'

type Usage = Api['Usage']
type Hour = Usage['items'][number]

/** Denied messages of the last 24 hours by hour and reason. */
export function Denials() {
  const usage = useLastDay()
  const { denials } = texts.overview
  return (
    <Section
      isFramed
      title={denials.title}
      aside={
        <Anchor component={Link} href={denialsUrl()} size="sm">
          {denials.all}
        </Anchor>
      }
    >
      <Loaded query={usage} loading={<Loading rows={4} height={44} />}>
        {({ from, items, total: { denied, denied_by_reason } }) => (
          <>
            <HeadlineNumber value={denied.messages} href={denied.messages === 0 ? undefined : denialsUrl({ from })}>
              {denials.caption(denied.messages, denied.units)}
            </HeadlineNumber>
            {denied.messages > 0 && (
              <>
                <ReasonChart hours={items} />
                <Reasons from={from} counts={denied_by_reason} />
              </>
            )}
            <Announcement text={denials.announcement(denied.messages)} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function ReasonChart({ hours }: { hours: readonly Hour[] }) {
  const max = Math.max(1, ...hours.map(({ denied }) => denied.messages))
  return (
    <figure className={chart.figure}>
      <div className={chart.hours} role="img" aria-label={labelOf(hours)}>
        {hours.map(hour => (
          <div key={hour.start} className={chart.hour} title={titleOf(hour)} data-stacked>
            {DENIAL_REASONS.map(reason => {
              const { messages } = hour.denied_by_reason[reason]
              return <span key={reason} data-reason={reason} style={{ height: `${(messages / max) * 100}%` }} />
            })}
          </div>
        ))}
      </div>
      <div className={chart.axis} aria-hidden>
        {hours
          .filter((_, index) => index % 6 === 0)
          .map(({ start }) => (
            <span key={start}>{formatClock(start)}</span>
          ))}
      </div>
    </figure>
  )
}

function labelOf(hours: readonly Hour[]): string {
  const [most] = hours.toSorted((one, other) => other.denied.messages - one.denied.messages)
  if (most === undefined || most.denied.messages === 0) return texts.overview.denials.chart(null, 0)
  return texts.overview.denials.chart(formatClock(most.start), most.denied.messages)
}

function titleOf({ start, denied_by_reason }: Hour): string {
  const { hour, part } = texts.overview.denials
  const reasons = DENIAL_REASONS.filter(reason => denied_by_reason[reason].messages > 0)
  const parts = reasons.map(reason => part(denied_by_reason[reason].messages, texts.values.denialReasons[reason]))
  return hour(formatClock(start), parts)
}

/** The messages of each reason: the legend of the chart, and the way to the log. */
function Reasons({ from, counts }: { from: string; counts: Usage['total']['denied_by_reason'] }) {
  return (
    <dl className={classes.details}>
      {DENIAL_REASONS.filter(reason => counts[reason].messages > 0).map(reason => (
        <div key={reason} className={classes.detail}>
          <dt className={chart.legendOf} data-reason={reason}>
            <Anchor component={Link} href={denialsUrl({ reason, from })} inherit>
              {texts.values.denialReasons[reason]}
            </Anchor>
          </dt>
          <dd>
            <Units value={counts[reason].messages} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
