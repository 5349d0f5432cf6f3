import { Anchor, Space } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { TabNav } from '../../components/tab-nav.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { Timestamp } from '../../components/values.tsx'
import { History } from './history.tsx'
import { PastWindows } from './past-windows.tsx'
import { QUOTA_URL_STATE, useTabs } from './quota-tabs.ts'

/** The page of a deleted quota, whose history is kept, or of an id that never existed. */
export function DeletedQuota({ id }: { id: number }) {
  const [{ view }] = useUrlState(QUOTA_URL_STATE)
  const shown = view === 'windows' ? 'windows' : 'history'
  const tabs = useTabs(['history', 'windows'], shown)
  const history = useQuery({
    queryKey: ['quotas', id, 'history', null],
    queryFn: ({ signal }) => request<Api['QuotaHistory']>(`/admin/quota/${id}/history`, { signal }),
  })
  const last = history.data?.items[0]
  const neverExisted = history.error instanceof ApiProblem && history.error.code === 'not_found'
  return (
    <>
      <PageTitle title={neverExisted ? `Quota ${id} not found` : (last?.after.name ?? `Quota ${id}`)} />
      {neverExisted ? (
        <EmptyState title="No quota has this id.">
          <Anchor component={Link} href="/quotas" underline="always">
            Go to the quota list
          </Anchor>
        </EmptyState>
      ) : history.error !== null ? (
        <ErrorNotice variant="load" error={history.error} onRetry={history.refetch} />
      ) : last === undefined ? (
        <Loading rows={6} />
      ) : (
        <>
          <EmptyState title="This quota is deleted.">
            <bdi>“{last.actor}”</bdi> deleted it on <Timestamp at={last.at} />. Its history is kept.
          </EmptyState>
          <Space h="xl" />
          <TabNav label="Sections" tabs={tabs} />
          {shown === 'windows' ? <PastWindows id={id} /> : <History id={id} />}
        </>
      )}
    </>
  )
}
