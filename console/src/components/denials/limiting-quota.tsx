import type { Api } from '../../api/types.ts'
import type { ViewedUser } from '../user/viewed-user.ts'
import { QuotaLink } from './quota-link.tsx'

interface LimitingQuotaProps {
  denial: Pick<Api['DenialRecord'], 'limiting_quota_id' | 'reason'>
  user: ViewedUser
}

/** The quota that limited a denied message. */
export function LimitingQuota({ denial: { limiting_quota_id, reason }, user }: LimitingQuotaProps) {
  if (limiting_quota_id === null) return 'None'
  // A blocking cap comes first, and does not exist if the reason is that grants had too little left.
  return <QuotaLink id={limiting_quota_id} kind={reason === 'quota_exhausted' ? 'grant' : 'cap'} user={user} />
}
