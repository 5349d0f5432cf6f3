import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { PageTitle } from '../../parts/page-title.tsx'
import type { Subject } from '../../parts/user/subject.ts'
import { Views } from '../../parts/views.tsx'
import { useCaller } from '../../session/session.ts'

const VIEWS = [
  { label: 'Overview', href: '/mine' },
  { label: 'Reservations', href: '/mine/reservations' },
]

/** What stands around each view of one's own. */
export function MinePage({ children }: { children: (subject: Subject) => ReactNode }) {
  const { user_id } = useCaller()
  const [location] = useLocation()
  if (user_id === null) throw new Error('a page of users was shown to none')
  return (
    <>
      <PageTitle title="My quotas" about="What you may send, what you have sent, and what is left." />
      <Views label="Views" views={VIEWS.map(view => ({ ...view, isCurrent: view.href === location }))} />
      <div key={user_id}>{children({ user_id, isOwn: true })}</div>
    </>
  )
}
