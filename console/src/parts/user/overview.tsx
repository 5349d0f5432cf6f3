import { UsageSection } from '../usage/usage-section.tsx'
import { QuotasSection } from './quotas-section.tsx'
import type { Subject } from './subject.ts'
import { Summary } from './summary.tsx'

/** What stands first on a user's page: what there is, what was used, and of which quotas. */
export function UserOverview({ subject }: { subject: Subject }) {
  return (
    <>
      <Summary subject={subject} />
      <UsageSection subject={subject} />
      <QuotasSection subject={subject} />
    </>
  )
}
