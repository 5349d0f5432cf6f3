import { Anchor } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Feed } from '../../api/feed.ts'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Badge } from '../../components/badge.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Loading } from '../../components/loading.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOfDay, TimeOrDate } from '../../components/values.tsx'
import { formatUnits } from '../../formats.ts'
import classes from './activity-feed.module.css'
import { eventText } from './event-text.ts'

/** The latest events, newest first, updated live. */
export function ActivityFeed({ feed }: { feed: UseQueryResult<Feed> }) {
  return (
    <Section isFramed title="Activity">
      <Loaded query={feed} loading={<Loading rows={3} height={40} />}>
        {({ since, events, count, hasGap }) => (
          <>
            {events.length === 0 ? (
              <EmptyState title="No events yet">
                Quota changes, alerts and expirations appear here automatically.
              </EmptyState>
            ) : (
              <ol className={classes.events}>
                {events.map(event => (
                  <Event key={event.id} event={event} />
                ))}
              </ol>
            )}
            {events.length > 0 && (
              <p className={classes.about}>
                {count === 0 ? 'No new events' : `${formatUnits(count)} new`} since <TimeOfDay at={since} />
                {count > events.length && `; showing the latest ${formatUnits(events.length)}`}
                {hasGap && '. Some events were skipped'}.
              </p>
            )}
            <Announcement
              text={`${formatUnits(count)} new ${count === 1 ? 'event' : 'events'}${latestOf(events, count)}`}
            />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function Event({ event }: { event: Api['Event'] }) {
  const { tone, subject, href, text } = eventText(event)
  return (
    <li className={classes.event}>
      <span className={classes.time}>
        <TimeOrDate at={event.at} />
      </span>
      <div>
        <Badge tone={tone}>
          {href === undefined ? (
            <bdi>{subject}</bdi>
          ) : (
            <Anchor component={Link} href={href} inherit fw={600}>
              <bdi>{subject}</bdi>
            </Anchor>
          )}{' '}
          {text}
        </Badge>
        {event.user_id !== null && (
          <div className={classes.user}>
            <Anchor component={Link} href={`/users/${event.user_id}`} size="xs">
              User {event.user_id}
            </Anchor>
          </div>
        )}
      </div>
    </li>
  )
}

function latestOf([latest]: readonly Api['Event'][], count: number): string {
  if (latest === undefined || count === 0) return ''
  const { subject, text } = eventText(latest)
  return `, the latest: ${subject} ${text}`
}
