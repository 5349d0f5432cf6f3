import { Anchor, Button } from '@mantine/core'
import { Fragment, type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Section } from '../../components/section.tsx'
import { TimeOrDate } from '../../components/values.tsx'
import { type EventLine, linesOf } from '../../model/events.ts'
import { texts } from '../../texts/texts.ts'
import classes from './activity-feed.module.css'
import { eventText, useReader } from './event-text.ts'

type FeedEvent = Api['Event']

/** Lines that are shown before "Show all". */
const FIRST_LINES = 5

/** The latest events, newest first. What repeats is one line. @param events oldest first */
export default function ActivityFeed({ events }: { events: readonly FeedEvent[] }) {
  const [isOpen, setOpen] = useState(false)
  const { activity } = texts.overviewParts
  const lines = linesOf(events.toReversed())
  const shown = isOpen ? lines : lines.slice(0, FIRST_LINES)
  if (lines.length === 0) return null
  return (
    <Section isFramed title={activity.title}>
      <ol data-plain>
        {shown.map(({ key, ...line }) => (
          <Line key={key} {...line} />
        ))}
      </ol>
      {lines.length > FIRST_LINES && (
        <Button variant="default" size="xs" mt="xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? texts.overview.showFewer : texts.overview.showAll(lines.length)}
        </Button>
      )}
    </Section>
  )
}

function Line({ events, isOneAction }: Omit<EventLine, 'key'>) {
  const self = useReader(events)
  const [first] = events
  if (first === undefined) return null
  if (events.length === 1) return <Single event={first} />
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
            <Badge tone={tone}>{texts.overviewParts.activity.group(events.length, kind)}</Badge>
          </summary>
          <ol data-plain>
            {events.map(event => (
              <Single key={event.id} event={event} />
            ))}
          </ol>
        </details>
        <Users events={events} />
      </div>
    </li>
  )
}

/** Users that a group names. */
const MAX_USERS = 5

function Users({ events }: { events: readonly FeedEvent[] }) {
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
      {texts.overviewParts.activity.usersOf(links, ids.length, Math.max(0, ids.length - MAX_USERS))}
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
        <ol data-plain>
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
