import { UsageSection } from '../usage/usage-section.tsx'
import { QuotasSection } from './quotas-section.tsx'
import { Summary } from './summary.tsx'
import type { ViewedUser } from './viewed-user.ts'

/** The first tab of a user: summary, usage and quotas. */
export default function UserOverview({ user }: { user: ViewedUser }) {
  return (
    <>
      <Summary user={user} />
      <UsageSection user={user} />
      <QuotasSection user={user} />
    </>
  )
}
