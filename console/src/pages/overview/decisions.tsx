import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { TimeOrDate } from '../../components/values.tsx'
import { countryLabel, formatUnits } from '../../formats.ts'
import type { NamedUser } from '../../model/addresses.ts'
import type { Decision } from '../../model/overview.ts'
import type { Pause } from '../../model/pauses.ts'
import { destinationOf } from '../../model/webhook.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import classes from './overview.module.css'

const { decisions: words } = texts.overview

/** The first few of what a person decides, each with the way to it. Nothing where there is nothing. */
export function Decisions({ decisions }: { decisions: readonly Decision[] }) {
  const mayPause = may(useCaller(), 'change')
  if (decisions.length === 0) return null
  return (
    <Section isFramed title={words.title}>
      <ul data-plain className={classes.rows}>
        {decisions.map(decision => {
          const row = rowOf(decision, mayPause)
          return <Row key={`${decision.kind} ${row.href}`} {...row} />
        })}
      </ul>
    </Section>
  )
}

interface RowProps {
  tone: Tone
  title: ReactNode
  about: ReactNode
  href: string
  /** What the button does. */
  action: string
}

export function Row({ tone, title, about, href, action }: RowProps) {
  return (
    <li>
      <div>
        <Badge tone={tone}>{title}</Badge>
        <div className={classes.detail}>{about}</div>
      </div>
      <Button component={Link} href={href} variant="default" size="compact-xs">
        {action}
      </Button>
    </li>
  )
}

function rowOf(decision: Decision, mayPause: boolean): RowProps {
  switch (decision.kind) {
    case 'trip':
    case 'observed':
      return rowOfPause(decision.kind, decision.pause, mayPause)
    case 'webhook': {
      const { id, description, failing_since, disabled_reason, ...webhook } = decision.webhook
      return {
        tone: 'bad',
        title: <bdi>{description ?? destinationOf(webhook)}</bdi>,
        about:
          disabled_reason === null
            ? failing_since !== null && words.failingSince(<TimeOrDate at={failing_since} />)
            : words.disabled[disabled_reason],
        href: `/webhooks/${id}`,
        action: words.open,
      }
    }
    case 'request': {
      const { id, user_id, units, reason, ...names } = decision.request
      return {
        tone: 'held',
        title: words.asks(userOf({ user_id, ...names }), units),
        about: <bdi>{reason}</bdi>,
        href: `/requests?request=${id}&of=${user_id}`,
        action: words.decide,
      }
    }
    case 'unusual': {
      const { country, asked, usual } = decision.destination
      return {
        tone: 'held',
        title: words.unusual(countryLabel(country), asked),
        about: words.usual(formatUnits(Math.round(usual))),
        href: `/overview?who=${country}`,
        action: words.who,
      }
    }
  }
}

function rowOfPause(kind: 'trip' | 'observed', pause: Pause, mayPause: boolean): RowProps {
  const { country, user_id, until, evidence, ...names } = pause
  const who = user_id === null ? words.allUsers : userOf({ user_id, ...names })
  const codes = evidence === null ? '' : words.codes(Math.round(evidence.counted))
  const query = user_id === null ? `pause=${country}` : `pause=${country}&for=${user_id}`
  return kind === 'trip'
    ? {
        tone: 'bad',
        title: words.tripped(countryLabel(country), who, until === null ? null : <TimeOrDate at={until} />),
        about: codes,
        href: `/pauses?country=${country}`,
        action: words.look,
      }
    : {
        tone: 'held',
        title: words.observed(countryLabel(country), who),
        about: codes,
        href: mayPause ? `/pauses?${query}` : `/pauses?show=all&country=${country}`,
        action: mayPause ? words.pause : words.look,
      }
}

const userOf = (user: NamedUser) => (
  <UserLink user={user} unnamed={texts.overview.user(user.user_id)} inherit underline="always" />
)
