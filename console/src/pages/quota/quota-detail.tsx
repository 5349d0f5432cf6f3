import { Anchor, Space } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { KIND_LABELS, quotaName } from '../../components/quota-labels.ts'
import { TabNav } from '../../components/tab-nav.tsx'
import { useUrlState } from '../../components/url-state.ts'
import { CurrentWindow } from './current-window.tsx'
import { History } from './history.tsx'
import { PastWindows } from './past-windows.tsx'
import { QuotaActions } from './quota-actions.tsx'
import { QUOTA_URL_STATE, useTabs } from './quota-tabs.ts'
import { SettingsList } from './settings-list.tsx'

type Quota = Api['SmsQuota']

interface QuotaDetailProps {
  quota: Quota
  /** The error of the last refetch; null if it succeeded. */
  error: Error | null
}

/** An existing quota: current window, tabs and actions. */
export function QuotaDetail({ quota, error }: QuotaDetailProps) {
  const [{ view }] = useUrlState(QUOTA_URL_STATE)
  const [message, setMessage] = useState('')
  const toggling = useToggleEnabled(quota, setMessage)
  const tabs = useTabs(['settings', 'windows', 'history'], view)
  const { id, user_id, kind } = quota
  return (
    <>
      <PageTitle
        title={quotaName(quota)}
        about={
          <>
            {KIND_LABELS[kind]} {id} of{' '}
            <Anchor component={Link} href={`/users/${user_id}`} inherit underline="always">
              user {user_id}
            </Anchor>
          </>
        }
      >
        <QuotaActions quota={quota} isToggling={toggling.isPending} onToggle={toggling.mutate} onDone={setMessage} />
      </PageTitle>
      {error !== null && <ErrorNotice variant="load" error={error} />}
      {toggling.error !== null && <ErrorNotice variant="form" error={toggling.error} />}
      <CurrentWindow quota={quota} message={message} />
      <Space h="xl" />
      <TabNav label="Sections" tabs={tabs} />
      {view === 'windows' ? (
        <PastWindows id={id} />
      ) : view === 'history' ? (
        <History id={id} />
      ) : (
        <SettingsList quota={quota} />
      )}
    </>
  )
}

/** Suspends or resumes a quota. It sends only `enabled`, so that it does not conflict with other changes. */
function useToggleEnabled({ id, enabled }: Quota, onDone: (message: string) => void) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => request<Quota>(`/admin/quota/${id}`, { method: 'PUT', body: { enabled: !enabled } }),
    onSuccess: quota => {
      queryClient.setQueryData(['quotas', id], quota)
      onDone(quota.enabled ? 'Resumed.' : 'Suspended: senders cannot use it.')
      return queryClient.invalidateQueries({ queryKey: ['quotas'] })
    },
  })
}
