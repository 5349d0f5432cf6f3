import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ComponentType, useState } from 'react'
import { Link, useParams } from 'wouter'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { TabNav } from '../../components/tab-nav.tsx'
import { blockUrl, type ViewedUser } from '../../model/addresses.ts'
import { headlineOf } from '../../model/answers.ts'
import { increasableGrants } from '../../model/increase-requests.ts'
import { uint } from '../../model/url-parameters.ts'
import { profileQuery } from '../../queries/profile.ts'
import { newestQuotasQuery, summaryQuery } from '../../queries/user.ts'
import { adjustsQuotas, changesQuotas, may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { GrantAction } from './grant-action.tsx'

/** The page of a user: title, tabs and the content of the current tab. */
export default function UserPage({ Content }: { Content: ComponentType<{ user: ViewedUser }> }) {
  const { id = '' } = useParams<{ id: string }>()
  const caller = useCaller()
  const user_id = uint(id)
  const called = useCalled(user_id)
  const [done, setDone] = useState('')
  if (user_id === null) return <NotFound />
  const { title, tabs: labels, newQuota, block, sections } = texts.user
  const tabs = [
    { label: labels.overview, href: `/users/${user_id}` },
    { label: labels.reservations, href: `/users/${user_id}/reservations` },
    { label: labels.denials, href: `/users/${user_id}/denials` },
    { label: labels.transfers, href: `/users/${user_id}/transfers` },
    { label: labels.changes, href: `/users/${user_id}/changes` },
    { label: labels.profile, href: `/users/${user_id}/profile` },
  ]
  return (
    <>
      <PageTitle title={title(user_id, called)}>
        <GiveUnits key={user_id} user={{ user_id, isOwn: false }} onDone={setDone} />
        {may(caller, 'change') && (
          <>
            <Button component={Link} href={blockUrl({ user_id })} variant="default" size="xs">
              {block}
            </Button>
            <Button component={Link} href={`/quotas/new?user_id=${user_id}`} variant="default" size="xs">
              {newQuota}
            </Button>
          </>
        )}
      </PageTitle>
      <p role="status">{done}</p>
      <TabNav label={sections} tabs={tabs} />
      {/* The key drops all state when the user changes, so that no data of another user is shown. */}
      <Content key={user_id} user={{ user_id, isOwn: false }} />
    </>
  )
}

/** What the user is called; null until it is known, or if the user has neither name nor reference. */
function useCalled(user_id: number | null): string | null {
  const { data } = useQuery({ ...profileQuery(user_id ?? 0), enabled: user_id !== null })
  return data?.name ?? data?.ref ?? null
}

interface GiveUnitsProps {
  user: ViewedUser
  /** Receives a confirmation message. */
  onDone: (message: string) => void
}

/** More units on a grant, or a first grant for a user without one. Empty for those who may give none. */
function GiveUnits({ user, onDone }: GiveUnitsProps) {
  const caller = useCaller()
  const canGive = adjustsQuotas(caller)
  const { data } = useQuery({ ...newestQuotasQuery(user), enabled: canGive })
  const { data: summary } = useQuery({ ...summaryQuery(user), enabled: canGive })
  // Where a cap stops all messages, the button that helps is beside the reason.
  const isStopped = summary !== undefined && headlineOf(summary).main.denial?.reason === 'cap_reached'
  if (!canGive) return null
  if (data === undefined)
    return (
      <Button size="xs" disabled>
        {texts.user.giveUnits}
      </Button>
    )
  const grants = increasableGrants(data.items)
  if (grants.length > 0)
    return (
      <GrantAction
        label={texts.user.giveUnits}
        isSecond={isStopped}
        action={{ name: 'adjust', isRemedy: true }}
        grants={grants}
        unitsOf={({ remaining }) => remaining ?? 0}
        onDone={onDone}
      />
    )
  if (!changesQuotas(caller)) return null
  return (
    <Button component={Link} href={`/quotas/new?user_id=${user.user_id}`} size="xs">
      {texts.user.giveUnits}
    </Button>
  )
}
