import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Loading } from '../../components/loaded.tsx'
import { Summary } from '../../components/user/summary.tsx'
import type { ViewedUser } from '../../model/addresses.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import { UserPlan } from './user-plan.tsx'

const RequestsOfUser = lazy(() => import('../../components/increase-requests/requests-of-user.tsx'))
const QuotasSection = lazy(() => import('../../components/user/quotas-section.tsx'))
const MessageCheck = lazy(() => import('../../components/user/message-check.tsx'))
// Below the first screen.
const Countries = lazy(() => import('./countries.tsx'))
const UsageSection = lazy(() => import('../../components/usage/usage-section.tsx'))

/** The first tab of a user: what can be sent now, what pays for it, where it goes, and what was used by day. */
export default function UserOverview({ user }: { user: ViewedUser }) {
  // Its form is long.
  const [isChecking, setChecking] = useState(false)
  const mayCheck = may(useCaller(), 'check') && !isChecking
  return (
    <>
      <Summary user={user}>
        {mayCheck && (
          <Button variant="default" size="xs" onClick={() => setChecking(true)}>
            {texts.messageCheck.title}
          </Button>
        )}
      </Summary>
      {isChecking && (
        <div ref={takeFocus} tabIndex={-1}>
          <Suspense fallback={<Loading rows={1} height={120} />}>
            <MessageCheck user={user} />
          </Suspense>
        </div>
      )}
      <Suspense>
        <RequestsOfUser user_id={user.user_id} />
      </Suspense>
      <UserPlan user_id={user.user_id} />
      <Suspense fallback={<Loading height={44} />}>
        <QuotasSection user={user} />
      </Suspense>
      <Suspense fallback={<Loading height={34} />}>
        <Countries user={user} />
      </Suspense>
      <Suspense fallback={<Loading rows={1} height={480} />}>
        <UsageSection user={user} />
      </Suspense>
    </>
  )
}

/** The button that had it is gone. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true })
}
