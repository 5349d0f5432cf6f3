import { lazy, Suspense } from 'react'
import { Loading } from '../../components/loaded.tsx'
import { Summary } from '../../components/user/summary.tsx'
import type { ViewedUser } from '../../model/addresses.ts'

// Below the first screen.
const QuotasSection = lazy(() => import('../../components/user/quotas-section.tsx'))
const UsageSection = lazy(() => import('../../components/usage/usage-section.tsx'))
const OwnRequests = lazy(() => import('../../components/increase-requests/own-requests.tsx'))
const NotificationsSection = lazy(() => import('../../components/user/notifications-section.tsx'))

/** The first tab of the own page: what can be sent now, what pays for it, and what was used by day. */
export default function OwnOverview({ user }: { user: ViewedUser }) {
  return (
    <>
      <Summary user={user} />
      <Suspense fallback={<Loading height={44} />}>
        <QuotasSection user={user} />
      </Suspense>
      <Suspense fallback={<Loading rows={1} height={480} />}>
        <UsageSection user={user} />
      </Suspense>
      <Suspense>
        <OwnRequests />
        <NotificationsSection />
      </Suspense>
    </>
  )
}
