import { useQuery } from '@tanstack/react-query'
import { EmptyState } from '../../components/loaded.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { useUrlState } from '../../components/url-state.ts'
import type { ViewedUser } from '../../model/addresses.ts'
import type { Change } from '../../model/audit.ts'
import { requestsOf } from '../../model/request-changes.ts'
import { cursor } from '../../model/url-parameters.ts'
import { changesQuery } from '../../queries/audit.ts'
import { useQuotaNames } from '../../queries/user.ts'
import { texts } from '../../texts/texts.ts'
import { ChangeTable } from '../changes/change-table.tsx'
import { useTransfersBehind } from '../quota/moved-units.tsx'

const STATE = { cursor }

/** Administrators' changes of all quotas of a user, newest first. */
export default function Changes({ user }: { user: ViewedUser }) {
  const [state] = useUrlState(STATE)
  const changes = useQuery(changesQuery({ user_id: user.user_id }, state.cursor))
  const { none, noneOfUser } = texts.changes
  return (
    <PagedList page={changes} none={<EmptyState title={none}>{noneOfUser}</EmptyState>}>
      {(items, isStale) => <UserChanges changes={items} user={user} isStale={isStale} />}
    </PagedList>
  )
}

interface UserChangesProps {
  changes: readonly Change[]
  user: ViewedUser
  /** Whether newer rows are being loaded. */
  isStale: boolean
}

function UserChanges({ changes, user, isStale }: UserChangesProps) {
  const ofUser = { names: useQuotaNames(user), transfers: useTransfersBehind(user.user_id, changes) }
  return <ChangeTable requests={requestsOf(changes)} ofUser={ofUser} isStale={isStale} />
}
