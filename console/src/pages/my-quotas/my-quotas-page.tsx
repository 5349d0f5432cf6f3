import type { ComponentType } from 'react'
import { useLocation } from 'wouter'
import { PageTitle } from '../../components/page-title.tsx'
import { TabNav } from '../../components/tab-nav.tsx'
import type { ViewedUser } from '../../components/user/viewed-user.ts'
import { useCaller } from '../../session/session.ts'

const TABS = [
  { label: 'Overview', href: '/mine' },
  { label: 'Reservations', href: '/mine/reservations' },
  { label: 'Denials', href: '/mine/denials' },
]

/** The signed-in user's own page: title, tabs and the content of the current tab. */
export default function MyQuotasPage({ Content }: { Content: ComponentType<{ user: ViewedUser }> }) {
  const { user_id } = useCaller()
  const [location] = useLocation()
  if (user_id === null) throw new Error('the page needs a caller with a user id')
  return (
    <>
      <PageTitle title="My quotas" about="Your limits, usage and remaining units." />
      <TabNav label="Sections" tabs={TABS.map(tab => ({ ...tab, isCurrent: tab.href === location }))} />
      <Content key={user_id} user={{ user_id, isOwn: true }} />
    </>
  )
}
