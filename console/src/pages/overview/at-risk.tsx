import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { customerTone } from '../../components/badge.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { TimeOrDate } from '../../components/values.tsx'
import { formatPercent } from '../../formats.ts'
import { isBlockedInPart } from '../../model/customer-state.ts'
import { AT_RISK_URL } from '../../model/overview.ts'
import { texts } from '../../texts/texts.ts'
import { Row } from './decisions.tsx'
import classes from './overview.module.css'

type Customer = Api['Customer']

const { atRisk: words } = texts.overview

/** The first customers whose messages are denied, or soon will be, the most urgent first. */
export function AtRisk({ customers }: { customers: readonly Customer[] }) {
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
      <ul data-plain className={classes.rows}>
        {customers.map(user => (
          <Row
            key={user.user_id}
            tone={customerTone(user)}
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

/** "Blocked: Quota exhausted, until 14:00" */
function whyOf(customer: Customer): ReactNode {
  const { state, reason, countries, message_types, used_percent, until } = customer
  const time = until === null ? null : <TimeOrDate at={until} />
  switch (state) {
    case 'near_limit':
      return words.near(formatPercent(Math.floor(used_percent) / 100), time)
    case 'running_out':
      return words.runningOut(time)
    case 'ending':
      return words.ending(time)
    default:
      return words.blocked(
        isBlockedInPart(customer) ? texts.values.messages(countries, message_types) : null,
        reason === null ? '' : texts.values.denialReasons[reason],
        time,
      )
  }
}
