import { Anchor } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Badge } from '../../components/badge.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOfDay, TimeOrDate } from '../../components/values.tsx'
import { type EventLine, linesOf } from '../../model/events.ts'
import type { Feed } from '../../queries/feed.ts'
import { texts } from '../../texts/texts.ts'
import classes from './activity-feed.module.css'
import { eventText, type Reader, useReader } from './event-text.ts'

type FeedEvent = Api['Event']

/** The latest events, newest first, updated live. What repeats is one line. */
export default function ActivityFeed({ feed }: { feed: UseQueryResult<Feed> }) {
  const { activity } = texts.overviewParts
  const self = useReader(feed.data?.events ?? [])
  return (
    <Section isFramed title={activity.title}>
      <Loaded query={feed} loading={<Loading rows={3} height={40} />}>
        {({ since, events, older, count, read, hasGap }) => (
          <>
            {events.length === 0 ? (
              <EmptyState title={activity.none}>{activity.noneAbout}</EmptyState>
            ) : (
              <ol className={classes.events}>
                {linesOf(events, older).map(({ key, ...line }) => (
                  <Line key={key} {...line} />
                ))}
              </ol>
            )}
            {events.length > 0 && (
              <p className={classes.about}>
                {activity.since(count, <TimeOfDay at={since} />)}
                {read > events.length && activity.counted(read, events.length)}
                {hasGap && activity.skipped}.
              </p>
            )}
            <Announcement text={activity.announcement(count, count === 0 ? null : latestOf(events, self))} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function Line({ events, older, isOneAction }: Omit<EventLine, 'key'>) {
  const self = useReader(events)
  const [first] = events
  if (first === undefined) return null
  if (events.length + older === 1) return <Single event={first} />
  if (isOneAction) return <Action events={events} />
  const { tone, kind } = eventText(first, self)
  return (
    <li className={classes.event}>
      <span className={classes.time}>
        <TimeOrDate at={first.at} />
      </span>
      <div>
        <details>
          <summary>
            <Badge tone={tone}>{texts.overviewParts.activity.group(events.length + older, kind)}</Badge>
          </summary>
          <ol className={classes.events}>
            {events.map(event => (
              <Single key={event.id} event={event} />
            ))}
          </ol>
          {older > 0 && <p className={classes.about}>{texts.overviewParts.activity.notListed(older)}</p>}
        </details>
        <Users events={events} isAll={older === 0} />
      </div>
    </li>
  )
}

/** Users that a group names. */
const MAX_USERS = 5

/** @param isAll whether no further events belong to the group, of users that are not known any more */
function Users({ events, isAll }: { events: readonly FeedEvent[]; isAll: boolean }) {
  const ids = [...new Set(events.map(({ user_id }) => user_id))].filter(id => id !== null)
  if (ids.length === 0) return null
  const links = ids.slice(0, MAX_USERS).map((id, index) => (
    <Fragment key={id}>
      {index > 0 && ', '}
      <Anchor component={Link} href={`/users/${id}`} size="xs" underline="always">
        {id}
      </Anchor>
    </Fragment>
  ))
  return (
    <div className={classes.user}>
      {texts.overviewParts.activity.usersOf(links, ids.length, Math.max(0, ids.length - MAX_USERS), isAll)}
    </div>
  )
}

/** What was done, and on request the changes that it took. */
function Action({ events: [first, ...steps] }: Pick<EventLine, 'events'>) {
  if (first === undefined) return null
  return (
    <Single event={first}>
      <details className={classes.user}>
        <summary>{texts.values.othersAtOnce(steps.length)}</summary>
        <ol className={classes.events}>
          {steps.map(event => (
            <Single key={event.id} event={event} />
          ))}
        </ol>
      </details>
    </Single>
  )
}

function Single({ event, children }: { event: FeedEvent; children?: ReactNode }) {
  const self = useReader([event])
  const { tone, subject, href, text } = eventText(event, self)
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
              {texts.overview.user(event.user_id)}
            </Anchor>
          </div>
        )}
        {children}
      </div>
    </li>
  )
}

function latestOf([latest]: readonly FeedEvent[], self: Reader): string | null {
  if (latest === undefined) return null
  const { subject, text } = eventText(latest, self)
  return `${subject} ${text}`
}
