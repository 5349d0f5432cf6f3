import { Anchor } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { Feed } from '../../api/feed.ts'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../parts/announcement.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Loading } from '../../parts/loading.tsx'
import { TimeOfDay, TimeOrDay } from '../../parts/moment.tsx'
import { Section } from '../../parts/section.tsx'
import { formatUnits } from '../../parts/units.tsx'
import { happeningOf } from './event-words.ts'
import classes from './happenings.module.css'

/** What happens now, the newest on top, and what happened last before. */
export function Happenings({ feed }: { feed: UseQueryResult<Feed> }) {
  return (
    <Section isFramed title="Happening now">
      <Loaded query={feed} loading={<Loading rows={3} height={40} />}>
        {({ since, events, count, hasGap }) => (
          <>
            {events.length === 0 ? (
              <Empty title="Nothing yet">
                Changes of quotas, units that run low and what expires come here by themselves.
              </Empty>
            ) : (
              <ol className={classes.events}>
                {events.map(event => (
                  <Event key={event.id} event={event} />
                ))}
              </ol>
            )}
            {events.length > 0 && (
              <p className={classes.about}>
                {count === 0 ? 'Nothing new' : `${formatUnits(count)} new`} since <TimeOfDay at={since} />
                {count > events.length && `; the latest ${formatUnits(events.length)} are shown`}
                {hasGap && '. Some were passed over'}.
              </p>
            )}
            <Announcement
              words={`${formatUnits(count)} new ${count === 1 ? 'event' : 'events'}${latestOf(events, count)}`}
            />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function Event({ event }: { event: Api['Event'] }) {
  const { tone, subject, href, words } = happeningOf(event)
  return (
    <li className={classes.event}>
      <span className={classes.time}>
        <TimeOrDay at={event.at} />
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
          {words}
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
  const { subject, words } = happeningOf(latest)
  return `, the latest: ${subject} ${words}`
}
