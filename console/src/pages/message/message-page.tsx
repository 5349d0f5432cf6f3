import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'wouter'
import { Badge, ReservationBadge } from '../../components/badge.tsx'
import { EmptyState, Loaded, Loading } from '../../components/loaded.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { Section } from '../../components/section.tsx'
import { UserLink } from '../../components/user-link.tsx'
import { countryLabel } from '../../formats.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import { uint } from '../../model/url-parameters.ts'
import { type Message, messageQuery } from '../../queries/messages.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import classes from './message.module.css'
import { Timeline, wordsFor } from './timeline.tsx'

/** The life of a message of any user, for those who see all users. */
export default function MessageOfUser() {
  const { id = '' } = useParams<{ id: string }>()
  const user_id = uint(id)
  return user_id === null ? <NotFound /> : <MessagePage user={{ user_id, isOwn: false }} />
}

/** The life of a message of the signed-in user. */
export function OwnMessage() {
  const { user_id } = useCaller()
  if (user_id === null) throw new Error('the page needs a caller with a user id')
  return <MessagePage user={{ user_id, isOwn: true }} />
}

function MessagePage({ user }: { user: ViewedUser }) {
  const { message_id = '' } = useParams<{ message_id: string }>()
  const message = useQuery(messageQuery(user, message_id))
  const words = wordsFor(user)
  const home = user.isOwn ? '/mine' : `/users/${user.user_id}`
  return (
    <>
      <PageTitle
        title={words.title(message_id)}
        about={
          !user.isOwn &&
          words.about(
            <UserLink
              user={message.data?.reservation ?? message.data?.denials[0] ?? user}
              unnamed={words.user(user.user_id)}
              inherit
              underline="always"
            />,
          )
        }
      >
        <Anchor component={Link} href={`${home}/reservations`} size="sm">
          {words.back}
        </Anchor>
      </PageTitle>
      <Loaded query={message} loading={<Loading rows={5} height={44} />}>
        {data =>
          data.reservation === null && data.denials.length === 0 ? (
            <EmptyState title={words.notFound}>{words.notFoundAbout}</EmptyState>
          ) : (
            <>
              <Outcome message={data} user={user} />
              <Section title={words.life}>
                <Timeline message={data} user={user} />
              </Section>
            </>
          )
        }
      </Loaded>
    </>
  )
}

/** What became of the message, in one sentence, and what it was. */
function Outcome({ message: { reservation, denials }, user }: { message: Message; user: ViewedUser }) {
  const { outcomes, facts } = wordsFor(user)
  const asked = reservation ?? denials[0]
  if (asked === undefined) return null
  const { country, message_type, units } = asked
  return (
    <div className={classes.outcome}>
      <p>{outcomes[reservation?.state ?? 'denied']}</p>
      <dl className={classes.facts}>
        <div>
          <dt>{facts.state}</dt>
          <dd>
            {reservation === null ? (
              <Badge tone="bad">{texts.denials.columns.denied}</Badge>
            ) : (
              <ReservationBadge state={reservation.state} isOwn={user.isOwn} />
            )}
          </dd>
        </div>
        <div>
          <dt>{reservation === null ? facts.asked : facts.units}</dt>
          <dd>{texts.values.units(units)}</dd>
        </div>
        {reservation?.rate != null && (
          <div>
            <dt>{texts.rates.price}</dt>
            <dd>{texts.rates.priced(reservation.segments ?? 0, reservation.rate)}</dd>
          </div>
        )}
        <div>
          <dt>{facts.destination}</dt>
          <dd>
            {country === null ? texts.denials.noCountry : countryLabel(country)}
            {message_type !== null && `, ${message_type}`}
          </dd>
        </div>
      </dl>
    </div>
  )
}
