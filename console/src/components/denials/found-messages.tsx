import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { messageUrl } from '../../model/addresses.ts'
import { messageSearchQuery, type Scope } from '../../queries/denials.ts'
import { texts } from '../../texts/texts.ts'
import { ReservationBadge } from '../badge.tsx'
import { MessageLink } from '../links.tsx'
import { Loaded, Loading } from '../loaded.tsx'
import { Section } from '../section.tsx'
import { UserLink } from '../user-link.tsx'
import { Timestamp } from '../values.tsx'
import classes from './found-messages.module.css'

/** Leads from a message id to the life of the message: of the user in question, or of every user who has such a message. */
export function FoundMessages({ id, scope }: { id: string; scope: Scope }) {
  if (scope === null) return <FoundOfAllUsers id={id} />
  return (
    <p className={classes.line}>
      <Anchor component={Link} href={messageUrl(scope, id)} size="sm">
        {texts.denials.found.life(<bdi>{id}</bdi>)}
      </Anchor>
    </p>
  )
}

function FoundOfAllUsers({ id }: { id: string }) {
  const search = useQuery(messageSearchQuery(id))
  const { found } = texts.denials
  return (
    <Section title={found.title}>
      <Loaded query={search} loading={<Loading rows={1} height={24} />}>
        {({ reservations, has_more }) => (
          <>
            {reservations.length === 0 && <p className={classes.line}>{found.none}</p>}
            <ul className={classes.found}>
              {reservations.map(({ id, state, units, created_at, ...user }) => (
                <li key={`${user.user_id} ${id}`}>
                  <MessageLink user={{ user_id: user.user_id, isOwn: false }} id={id} />
                  <UserLink user={user} unnamed={texts.shell.account.user(user.user_id)} />
                  <ReservationBadge state={state} isOwn={false} />
                  <span>{texts.values.units(units)}</span>
                  <Timestamp at={created_at} />
                </li>
              ))}
            </ul>
            {has_more.reservations && <p className={classes.line}>{found.more}</p>}
          </>
        )}
      </Loaded>
    </Section>
  )
}
