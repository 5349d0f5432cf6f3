import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../../api/types.ts'
import { quotaName } from '../quota-labels.ts'
import { useQuotaNames } from '../user/quota-names.ts'
import type { ViewedUser } from '../user/viewed-user.ts'

interface QuotaLinkProps {
  id: number
  kind: Api['SmsQuota']['kind']
  /** The owner. All links of one user share one request for the names. */
  user: ViewedUser
}

/** The name of a quota, or its kind and id; a link for administrators. */
export function QuotaLink({ id, kind, user }: QuotaLinkProps) {
  const names = useQuotaNames(user)
  const name = <bdi>{names.get(id) ?? quotaName({ id, kind, name: null })}</bdi>
  if (user.isOwn) return name
  return (
    <Anchor component={Link} href={`/quotas/${id}`} size="sm">
      {name}
    </Anchor>
  )
}
