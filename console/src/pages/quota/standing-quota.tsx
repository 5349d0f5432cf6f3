import { Anchor, Space } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { Failure } from '../../parts/failure.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { KIND_WORDS, nameOfQuota } from '../../parts/quota-words.ts'
import { Refusal } from '../../parts/refusal.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { Views } from '../../parts/views.tsx'
import { QUOTA_ADDRESS, useViews } from './address.ts'
import { History } from './history.tsx'
import { PastWindows } from './past-windows.tsx'
import { QuotaActions } from './quota-actions.tsx'
import { SettingsList } from './settings-list.tsx'
import { Standing } from './standing.tsx'

type Quota = Api['SmsQuota']

interface StandingQuotaProps {
  quota: Quota
  /** Why it could not be read again, if it could not. */
  error: Error | null
}

/** A quota that is there: how it stands, what there is to see of it, and what to do with it. */
export function StandingQuota({ quota, error }: StandingQuotaProps) {
  const [{ view }] = useUrlState(QUOTA_ADDRESS)
  const [done, setDone] = useState('')
  const switching = useSwitch(quota, setDone)
  const views = useViews(['settings', 'windows', 'history'], view)
  const { id, user_id, kind } = quota
  return (
    <>
      <PageTitle
        title={nameOfQuota(quota)}
        about={
          <>
            {KIND_WORDS[kind]} {id} of{' '}
            <Anchor component={Link} href={`/users/${user_id}`} inherit underline="always">
              user {user_id}
            </Anchor>
          </>
        }
      >
        <QuotaActions quota={quota} isSwitching={switching.isPending} onSwitch={switching.mutate} onDone={setDone} />
      </PageTitle>
      {error !== null && <Failure error={error} />}
      {switching.error !== null && <Refusal error={switching.error} />}
      <Standing quota={quota} done={done} />
      <Space h="xl" />
      <Views label="What of the quota" views={views} />
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

/** Suspends a quota, or resumes it, whatever else somebody changed of it meanwhile. */
function useSwitch({ id, enabled }: Quota, onDone: (words: string) => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => request<Quota>(`/admin/quota/${id}`, { method: 'PUT', body: { enabled: !enabled } }),
    onSuccess: quota => {
      queries.setQueryData(['quotas', id], quota)
      onDone(quota.enabled ? 'It is resumed.' : 'It is suspended: nothing is drawn from it.')
      return queries.invalidateQueries({ queryKey: ['quotas'] })
    },
  })
}
