import { Anchor, Space } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { Views } from '../../parts/views.tsx'
import { QUOTA_ADDRESS, useViews } from './address.ts'
import { History } from './history.tsx'
import { PastWindows } from './past-windows.tsx'

/** A quota that is deleted, whose records stay, or one that never was. */
export function GoneQuota({ id }: { id: number }) {
  const [{ view }] = useUrlState(QUOTA_ADDRESS)
  const shown = view === 'windows' ? 'windows' : 'history'
  const views = useViews(['history', 'windows'], shown)
  const history = useQuery({
    queryKey: ['quotas', id, 'history', null],
    queryFn: ({ signal }) => request<Api['QuotaHistory']>(`/admin/quota/${id}/history`, { signal }),
  })
  const last = history.data?.items[0]
  const neverWas = history.error instanceof ApiProblem && history.error.code === 'not_found'
  return (
    <>
      <PageTitle title={neverWas ? `There is no quota ${id}` : (last?.after.name ?? `Quota ${id}`)} />
      {neverWas ? (
        <Empty title="No quota ever had this number.">
          <Anchor component={Link} href="/quotas" underline="always">
            Go to the list of quotas
          </Anchor>
        </Empty>
      ) : history.error !== null ? (
        <Failure error={history.error} onRetry={history.refetch} />
      ) : last === undefined ? (
        <Loading rows={6} />
      ) : (
        <>
          <Empty title="This quota is deleted.">
            <bdi>“{last.actor}”</bdi> deleted it, <Moment at={last.at} />. What it went through stays here.
          </Empty>
          <Space h="xl" />
          <Views label="What of the quota" views={views} />
          {shown === 'windows' ? <PastWindows id={id} /> : <History id={id} />}
        </>
      )}
    </>
  )
}
