import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { nameOfQuota } from '../../parts/quota-words.ts'
import { BelowUsage } from './below-usage.tsx'
import { MergePanel } from './merge-panel.tsx'
import { QuotaForm } from './quota-form.tsx'
import { changesOf, type Typed, typedOf } from './typed.ts'

type Quota = Api['SmsQuota']

/** What is typed, and the quota that it began with. */
interface Work {
  typed: Typed
  was: Quota
}

interface EditQuotaProps {
  /** As it is when the form opens; what becomes of it meanwhile does not touch what is typed. */
  quota: Quota
  onDone: () => void
}

/** The form in which a quota is changed. */
export function EditQuota({ quota, onDone }: EditQuotaProps) {
  const [{ typed, was }, setWork] = useState<Work>({ typed: typedOf(quota), was: quota })
  /** What somebody else saved meanwhile. */
  const [theirs, setTheirs] = useState<Quota | null>(null)
  const queries = useQueryClient()
  const path = `/admin/quota/${quota.id}`

  const saving = useMutation({
    mutationFn: ({ work, mayGoBelow }: { work: Work; mayGoBelow: boolean }) =>
      request<Quota>(path, {
        method: 'PUT',
        body: { ...changesOf(work.typed, work.was), ...(mayGoBelow ? { allow_below_usage: true } : {}) },
        ifMatch: work.was.version,
      }).catch(async error => {
        if (isMismatch(error)) setTheirs(await request<Quota>(path))
        throw error
      }),
    onSuccess: async saved => {
      queries.setQueryData(['quotas', quota.id], saved)
      void queries.invalidateQueries({ queryKey: ['quotas'] })
      onDone()
    },
  })

  function save(work: Work, mayGoBelow = false) {
    const isChanged = Object.keys(changesOf(work.typed, work.was)).length > 0
    setWork(work)
    setTheirs(null)
    if (isChanged) saving.mutate({ work, mayGoBelow })
    else onDone()
  }
  const isBelowUsage = saving.error instanceof ApiProblem && saving.error.code === 'below_usage'

  return (
    <>
      <PageTitle title={`Edit ${nameOfQuota(quota)}`} about={`Version ${was.version}`} />
      {theirs !== null ? (
        <MergePanel
          typed={typed}
          was={was}
          theirs={theirs}
          isBusy={saving.isPending}
          onSave={merged => save({ typed: merged, was: theirs })}
          onDiscard={onDone}
        />
      ) : (
        <QuotaForm
          typed={typed}
          onChange={next => setWork({ typed: next, was })}
          was={was}
          error={isMismatch(saving.error) ? null : saving.error}
          isBusy={saving.isPending}
          onSubmit={() => save({ typed, was })}
          submitLabel="Save changes"
          onCancel={onDone}
          remedy={isBelowUsage && <BelowUsage onConfirm={() => save({ typed, was }, true)} />}
        />
      )}
    </>
  )
}

function isMismatch(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'version_mismatch'
}
