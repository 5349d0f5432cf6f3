import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import type { Tone } from '../../components/badge.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { TimeOrDate } from '../../components/values.tsx'
import { formatPercent } from '../../formats.ts'
import { AT_RISK_URL } from '../../model/overview.ts'
import { texts } from '../../texts/texts.ts'
import { Row } from './decisions.tsx'
import classes from './overview.module.css'

type User = Api['AtRisk']

const { atRisk: words } = texts.overview

const TONES: Record<User['state'], Tone> = { blocked: 'bad', near_limit: 'held', running_out: 'held', ending: 'coming' }

/** The first users whose messages are denied, or soon will be, the most urgent first. */
export function AtRisk({ users }: { users: readonly User[] }) {
  return (
    <Section
      isFramed
      title={words.title}
      aside={
        <Anchor component={Link} href={AT_RISK_URL} size="sm">
          {words.all}
        </Anchor>
      }
    >
      <ul className={classes.rows}>
        {users.map(user => (
          <Row
            key={user.user_id}
            tone={TONES[user.state]}
            title={
              <>
                <UserLink user={user} unnamed={texts.overview.user(user.user_id)} inherit fw={600} />
                {' · '}
                {words.sendable(user.sendable)}
              </>
            }
            about={whyOf(user)}
            href={`/users/${user.user_id}`}
            action={words.open}
          />
        ))}
      </ul>
    </Section>
  )
}

/** "Blocked: Quota exhausted, Trial, until 14:00" */
function whyOf({ state, reason, quota, used_percent, until }: User): ReactNode {
  const name = quota && (quota.name ?? texts.values.unnamed(quota.kind, quota.id, false))
  const time = until === null ? null : <TimeOrDate at={until} />
  switch (state) {
    case 'blocked':
      return words.blocked(reason === null ? '' : texts.values.denialReasons[reason], name, time)
    case 'near_limit':
      return words.near(formatPercent((used_percent ?? 0) / 100), name ?? '')
    case 'running_out':
      return words.runningOut(time)
    case 'ending':
      return words.ending(name ?? '', time)
  }
}
