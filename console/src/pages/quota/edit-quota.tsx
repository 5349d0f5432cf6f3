import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { PageTitle } from '../../components/page-title.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { BelowUsage } from './below-usage.tsx'
import { changedSettings, type FormValues, formValuesOf } from './form-values.ts'
import { MergePanel } from './merge-panel.tsx'
import { QuotaForm } from './quota-form.tsx'

type Quota = Api['SmsQuota']

/** The form values, and the quota they are based on. */
interface Draft {
  values: FormValues
  original: Quota
}

interface EditQuotaProps {
  /** The quota when the form opens; later changes of it do not affect the form. */
  quota: Quota
  onDone: () => void
}

/** The form that edits a quota. */
export function EditQuota({ quota, onDone }: EditQuotaProps) {
  const [{ values, original }, setDraft] = useState<Draft>({ values: formValuesOf(quota), original: quota })
  /** The version saved by someone else after this form was opened. */
  const [theirs, setTheirs] = useState<Quota | null>(null)
  const queryClient = useQueryClient()
  const path = `/admin/quota/${quota.id}`

  const saving = useMutation({
    mutationFn: ({ draft, allowBelowUsage }: { draft: Draft; allowBelowUsage: boolean }) =>
      request<Quota>(path, {
        method: 'PUT',
        body: {
          ...changedSettings(draft.values, draft.original),
          ...(allowBelowUsage ? { allow_below_usage: true } : {}),
        },
        ifMatch: draft.original.version,
      }).catch(async error => {
        if (isMismatch(error)) setTheirs(await request<Quota>(path))
        throw error
      }),
    onSuccess: async saved => {
      queryClient.setQueryData(['quotas', quota.id], saved)
      void queryClient.invalidateQueries({ queryKey: ['quotas'] })
      onDone()
    },
  })

  function save(draft: Draft, allowBelowUsage = false) {
    const isChanged = Object.keys(changedSettings(draft.values, draft.original)).length > 0
    setDraft(draft)
    setTheirs(null)
    if (isChanged) saving.mutate({ draft, allowBelowUsage })
    else onDone()
  }
  const isBelowUsage = saving.error instanceof ApiProblem && saving.error.code === 'below_usage'

  return (
    <>
      <PageTitle title={`Edit ${quotaName(quota)}`} about={`Version ${original.version}`} />
      {theirs !== null ? (
        <MergePanel
          values={values}
          original={original}
          theirs={theirs}
          isBusy={saving.isPending}
          onSave={merged => save({ values: merged, original: theirs })}
          onDiscard={onDone}
        />
      ) : (
        <QuotaForm
          values={values}
          onChange={next => setDraft({ values: next, original })}
          original={original}
          error={isMismatch(saving.error) ? null : saving.error}
          isBusy={saving.isPending}
          onSubmit={() => save({ values, original })}
          submitLabel="Save changes"
          onCancel={onDone}
          remedy={isBelowUsage && <BelowUsage onConfirm={() => save({ values, original }, true)} />}
        />
      )}
    </>
  )
}

function isMismatch(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'version_mismatch'
}
