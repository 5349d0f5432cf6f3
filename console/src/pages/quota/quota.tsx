import { useQuery } from '@tanstack/react-query'
import { useParams } from 'wouter'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { uint, useUrlState } from '../../components/url-state.ts'
import { DeletedQuota } from './deleted-quota.tsx'
import { EditQuota } from './edit-quota.tsx'
import { QuotaDetail } from './quota-detail.tsx'
import { QUOTA_URL_STATE } from './quota-tabs.ts'

/** The page of a quota: usage, settings, history and actions. */
export default function Quota() {
  const id = uint(useParams().id ?? null)
  // The key resets all state when the id changes, including form values.
  return id === null ? <NotFound /> : <QuotaOf key={id} id={id} />
}

function QuotaOf({ id }: { id: number }) {
  const [{ view }, change] = useUrlState(QUOTA_URL_STATE)
  const quota = useQuery({
    queryKey: ['quotas', id],
    queryFn: ({ signal }) => request<Api['SmsQuota']>(`/admin/quota/${id}`, { signal }),
  })
  const isDeleted = quota.error instanceof ApiProblem && quota.error.code === 'not_found'

  // The edit form stays open even if the quota is changed or deleted.
  if (view === 'edit' && quota.data !== undefined)
    return <EditQuota quota={quota.data} onDone={() => change({ view: 'settings' })} />
  if (isDeleted) return <DeletedQuota id={id} />
  if (quota.data !== undefined) return <QuotaDetail quota={quota.data} error={quota.error} />
  return (
    <>
      <PageTitle title={`Quota ${id}`} />
      {quota.error === null ? (
        <Loading rows={8} height={36} />
      ) : (
        <ErrorNotice variant="load" error={quota.error} onRetry={quota.refetch} />
      )}
    </>
  )
}
