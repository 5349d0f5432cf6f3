import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import classes from '../../components/data-table.module.css'
import { Kind } from '../../components/kind.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { countryLabel } from '../../formats.ts'
import { type Change, nameOf, shownBy } from '../../model/audit.ts'
import { texts } from '../../texts/texts.ts'

interface ThingProps {
  change: Change
  /** Names of quotas as they are now, by id. Without one, that at the time of the change is shown. */
  names?: ReadonlyMap<number, string> | undefined
}

/** What was changed, as a link to its page. */
export function ChangedThing(props: ThingProps) {
  const Content = THINGS[props.change.resource]
  return <Content {...props} />
}

const THINGS: Readonly<Record<Change['resource'], (props: ThingProps) => ReactNode>> = {
  quota: Quota,
  webhook: ({ change }) => (
    <Thing href={`/webhooks/${change.thing_id}/history`}>{texts.changes.things.webhook(calledIn(change))}</Thing>
  ),
  plan: ({ change }) => (
    <Thing href={`/plans/${change.thing_id}/history`}>{texts.changes.things.plan(calledIn(change))}</Thing>
  ),
  rate_card: ({ change }) => (
    <Thing href={`/prices/${change.thing_id}`}>{texts.changes.things.rateCard(calledIn(change))}</Thing>
  ),
  breaker: () => <Thing href="/pauses/breaker">{texts.changes.things.breaker}</Thing>,
  pause: ({ change }) => {
    const country = nameOf(change) ?? ''
    return (
      <Thing href={`/pauses?show=all&country=${country}`}>{texts.changes.things.pause(countryLabel(country))}</Thing>
    )
  },
  increase_request: ({ change: { thing_id, user_id } }) => (
    <Thing href={`/requests?request=${thing_id}&of=${user_id}`}>{texts.changes.things.request}</Thing>
  ),
  profile: ({ change: { user_id } }) => <Thing href={`/users/${user_id}/profile`}>{texts.users.profile.title}</Thing>,
  address: () => texts.changes.things.address,
  user: () => texts.changes.things.user,
}

const calledIn = (change: Change) => nameOf(change) ?? String(change.thing_id)

function Thing({ href, children }: { href: string; children: string }) {
  return (
    <Anchor component={Link} href={href} size="sm" className={classes.name}>
      <bdi>{children}</bdi>
    </Anchor>
  )
}

/** Of a deleted quota, all that is known is what the change has recorded. */
function Quota({ change, names }: ThingProps) {
  const { kind = 'grant', name = null } = shownBy(change)
  const id = change.thing_id
  return (
    <Kind kind={kind}>
      <Thing href={`/quotas/${id}`}>{names?.get(id) ?? quotaName({ id, kind, name })}</Thing>
    </Kind>
  )
}
