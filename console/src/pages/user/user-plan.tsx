import { Anchor, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loaded.tsx'
import { RateCardLink } from '../../components/rate-card.tsx'
import { cardOf } from '../../model/rates.ts'
import { queryOf } from '../../queries/calls.ts'
import { profileQuery } from '../../queries/profile.ts'
import { rateCardsQuery } from '../../queries/rates.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import classes from '../plans/plan.module.css'
import { fieldLabel } from '../quota/settings.ts'

const GivePlanDialog = lazy(async () => ({ default: (await import('./user-plan-dialogs.tsx')).GivePlanDialog }))
const TakePlanDialog = lazy(async () => ({ default: (await import('./user-plan-dialogs.tsx')).TakePlanDialog }))

type UserPlan = Api['UserPlan']

const words = texts.plans.ofUser

/** The plan of a user: its version, what stays as it was changed by hand, and another one in its place. */
export function UserPlan({ user_id }: { user_id: number }) {
  const owned = useQuery(queryOf('GET /admin/users/{user_id}/plan', { user_id }))
  const [open, setOpen] = useState<'give' | 'take' | null>(null)
  const [message, setMessage] = useState('')
  const mayChange = may(useCaller(), 'change')
  if (owned.data === undefined)
    return owned.error === null ? (
      <Loading rows={1} height={44} />
    ) : (
      <ErrorNotice variant="load" error={owned.error} onRetry={owned.refetch} />
    )
  const { plan } = owned.data
  const dialog = { owned: owned.data, onDone: setMessage, onClose: () => setOpen(null) }
  return (
    <Group className={classes.status} role="group" aria-label={words.label}>
      <div>
        {plan === null ? words.none : <Given plan={plan} />}
        <Prices user_id={user_id} plan_id={plan?.id ?? null} />
        <Kept owned={owned.data} />
        <Text role="status" size="sm" c="dimmed">
          {message}
        </Text>
      </div>
      {mayChange && (
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={() => setOpen('give')}>
            {plan === null ? words.give : words.change}
          </Button>
          {plan !== null && (
            <Button variant="default" size="xs" onClick={() => setOpen('take')}>
              {words.take}
            </Button>
          )}
        </Group>
      )}
      <Suspense>
        {open === 'give' && <GivePlanDialog {...dialog} />}
        {open === 'take' && plan !== null && <TakePlanDialog {...dialog} name={plan.name} />}
      </Suspense>
    </Group>
  )
}

/** The name with a link, and whether there is a newer version. */
function Given({ plan: { id, name, version } }: { plan: NonNullable<UserPlan['plan']> }) {
  const newest = useQuery(queryOf('GET /admin/plans/{id}', { id })).data?.version ?? version
  const link = (
    <Anchor component={Link} href={`/plans/${id}`} inherit underline="always">
      <bdi>{name}</bdi>
    </Anchor>
  )
  return (
    <>
      {words.has(link, version)} {newest > version && <Badge tone="coming">{words.newer(newest)}</Badge>}
    </>
  )
}

/** The rate card that prices messages of the user, and where it comes from. Nothing without one. */
function Prices({ user_id, plan_id }: { user_id: number; plan_id: number | null }) {
  const { data: cards } = useQuery(rateCardsQuery())
  const { data: profile } = useQuery(profileQuery(user_id))
  const ofPlan = useQuery({ ...queryOf('GET /admin/plans/{id}', { id: plan_id ?? 0 }), enabled: plan_id !== null })
  if (cards === undefined || profile === undefined || (plan_id !== null && ofPlan.data === undefined)) return null
  const found = cardOf(cards, profile.rate_card_id, ofPlan.data?.rate_card_id ?? null)
  return found !== null && <Text size="sm">{texts.rates.ofUser(<RateCardLink id={found.card.id} />, found.from)}</Text>
}

/** The quotas of which an administrator has changed a value by hand. */
function Kept({ owned: { slots } }: { owned: UserPlan }) {
  const changed = slots.filter(({ kept }) => kept.length > 0)
  if (changed.length === 0) return null
  return (
    <Text size="sm" c="dimmed">
      {words.byHand}{' '}
      {changed.map(({ slot, quota_id, kept }, index) => (
        <span key={slot}>
          {index > 0 && ', '}
          {words.kept(
            <Anchor component={Link} href={`/quotas/${quota_id}`} inherit underline="always">
              {slot}
            </Anchor>,
            kept.map(fieldLabel),
          )}
        </span>
      ))}
    </Text>
  )
}
