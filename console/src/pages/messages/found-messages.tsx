import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ReservationBadge } from '../../components/badge.tsx'
import { MessageLink } from '../../components/links.tsx'
import { Loaded, Loading } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { Timestamp } from '../../components/values.tsx'
import { queryOf } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import classes from './found-messages.module.css'

/** Leads from a message id to the lives of the messages of all users that have it. */
export function FoundMessages({ id }: { id: string }) {
  const search = useQuery(queryOf('GET /admin/search', { query: { q: id } }))
  const { found } = texts.denials
  return (
    <Section title={found.title}>
      <Loaded query={search} loading={<Loading rows={1} height={24} />}>
        {({ reservations, has_more }) => (
          <>
            {reservations.length === 0 && (
              <Text size="sm" mb="sm">
                {found.none}
              </Text>
            )}
            <ul data-plain className={classes.found}>
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
            {has_more.reservations && (
              <Text size="sm" mb="sm">
                {found.more}
              </Text>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
