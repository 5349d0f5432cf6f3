import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import type { Api } from '../api/types.ts'
import { messageUrl, type ViewedUser } from '../model/addresses.ts'
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

/** The kind of a quota and its name, or its number. For those who see all users with the word for the kind, and a link. */
export function QuotaLink({ id, kind, user }: QuotaLinkProps) {
  const name = useQuotaNames(user).get(id)
  if (user.isOwn)
    return (
      <Kind kind={kind} label={texts.quotas.ownKinds[kind]}>
        {name === undefined ? texts.values.ownKinds[kind] : <bdi>{name}</bdi>}
      </Kind>
    )
  return (
    <Kind kind={kind}>
      {KIND_LABELS[kind]}{' '}
      <Anchor component={Link} href={`/quotas/${id}`} size="sm">
        <bdi>{name ?? id}</bdi>
      </Anchor>
    </Kind>
  )
}

/** A message's id as a link to its life. */
export function MessageLink({ user, id }: { user: ViewedUser; id: string }) {
  return (
    <Anchor component={Link} href={messageUrl(user, id)} size="sm" fw={600}>
      <bdi>{id}</bdi>
    </Anchor>
  )
}
