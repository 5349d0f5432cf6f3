import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { NotFound } from '../../parts/not-found.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { uint } from '../../parts/url-state.ts'
import type { Subject } from '../../parts/user/subject.ts'
import { Views } from '../../parts/views.tsx'

/** What stands around each view of a user: who it is, the other views, and what can be done for them. */
export function UserPage({ children }: { children: (subject: Subject) => ReactNode }) {
  const { id = '' } = useParams<{ id: string }>()
  const [location] = useLocation()
  const user_id = uint(id)
  if (user_id === null) return <NotFound />
  const views = [
    { label: 'Overview', href: `/users/${user_id}` },
    { label: 'Reservations', href: `/users/${user_id}/reservations` },
    { label: 'Changes', href: `/users/${user_id}/changes` },
  ].map(view => ({ ...view, isCurrent: view.href === location }))
  return (
    <>
      <PageTitle title={`User ${user_id}`}>
        <Button component={Link} href={`/quotas/new?user_id=${user_id}`} size="xs">
          New quota for this user
        </Button>
      </PageTitle>
      <Views label="Views" views={views} />
      {/* Nothing of one user may stand for a moment under the name of another. */}
      <div key={user_id}>{children({ user_id, isOwn: false })}</div>
    </>
  )
}
