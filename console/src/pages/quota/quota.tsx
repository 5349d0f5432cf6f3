import { useQuery } from '@tanstack/react-query'
import { useParams } from 'wouter'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { NotFound } from '../../parts/not-found.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { uint, useUrlState } from '../../parts/url-state.ts'
import { QUOTA_ADDRESS } from './address.ts'
import { EditQuota } from './edit-quota.tsx'
import { GoneQuota } from './gone-quota.tsx'
import { StandingQuota } from './standing-quota.tsx'

/** One quota: as it stands, what it went through, and what can be done with it. */
export default function Quota() {
  const id = uint(useParams().id ?? null)
  // With another id everything begins anew, what was typed included.
  return id === null ? <NotFound /> : <QuotaOf key={id} id={id} />
}

function QuotaOf({ id }: { id: number }) {
  const [{ view }, change] = useUrlState(QUOTA_ADDRESS)
  const quota = useQuery({
    queryKey: ['quotas', id],
    queryFn: ({ signal }) => request<Api['SmsQuota']>(`/admin/quota/${id}`, { signal }),
  })
  const isGone = quota.error instanceof ApiProblem && quota.error.code === 'not_found'

  // What is being typed stays, whatever becomes of the quota meanwhile.
  if (view === 'edit' && quota.data !== undefined)
    return <EditQuota quota={quota.data} onDone={() => change({ view: 'settings' })} />
  if (isGone) return <GoneQuota id={id} />
  if (quota.data !== undefined) return <StandingQuota quota={quota.data} error={quota.error} />
  return (
    <>
      <PageTitle title={`Quota ${id}`} />
      {quota.error === null ? (
        <Loading rows={8} height={36} />
      ) : (
        <Failure error={quota.error} onRetry={quota.refetch} />
      )}
    </>
  )
}
