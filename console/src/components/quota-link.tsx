import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../api/types.ts'
import type { ViewedUser } from '../queries/user.ts'
import { useQuotaNames } from '../queries/user.ts'
import { texts } from '../texts/texts.ts'
import { Kind } from './kind.tsx'
import { KIND_LABELS } from './quota-labels.ts'

interface QuotaLinkProps {
  id: number
  kind: Api['SmsQuota']['kind']
  /** The owner. All links of one user share one request for the names. */
  user: ViewedUser
}

/** The kind of a quota and its name, or its number; a link for those who see all users. */
export function QuotaLink({ id, kind, user }: QuotaLinkProps) {
  const name = useQuotaNames(user).get(id)
  if (user.isOwn) return name === undefined ? texts.values.ownKinds[kind] : <bdi>{name}</bdi>
  return (
    <Kind kind={kind}>
      {KIND_LABELS[kind]}{' '}
      <Anchor component={Link} href={`/quotas/${id}`} size="sm">
        <bdi>{name ?? id}</bdi>
      </Anchor>
    </Kind>
  )
}
