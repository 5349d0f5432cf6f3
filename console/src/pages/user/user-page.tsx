import { Button } from '@mantine/core'
import type { ComponentType } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { TabNav } from '../../components/tab-nav.tsx'
import { uint } from '../../components/url-state.ts'
import type { ViewedUser } from '../../components/user/viewed-user.ts'

/** The page of a user: title, tabs and the content of the current tab. */
export default function UserPage({ Content }: { Content: ComponentType<{ user: ViewedUser }> }) {
  const { id = '' } = useParams<{ id: string }>()
  const [location] = useLocation()
  const user_id = uint(id)
  if (user_id === null) return <NotFound />
  const tabs = [
    { label: 'Overview', href: `/users/${user_id}` },
    { label: 'Reservations', href: `/users/${user_id}/reservations` },
    { label: 'Denials', href: `/users/${user_id}/denials` },
    { label: 'Changes', href: `/users/${user_id}/changes` },
  ].map(tab => ({ ...tab, isCurrent: tab.href === location }))
  return (
    <>
      <PageTitle title={`User ${user_id}`}>
        <Button component={Link} href={`/quotas/new?user_id=${user_id}`} size="xs">
          New quota for this user
        </Button>
      </PageTitle>
      <TabNav label="Sections" tabs={tabs} />
      {/* The key drops all state when the user changes, so that no data of another user is shown. */}
      <Content key={user_id} user={{ user_id, isOwn: false }} />
    </>
  )
}
