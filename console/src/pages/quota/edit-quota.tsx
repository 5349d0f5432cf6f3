import { useState } from 'react'
import { isOutdated } from '../../api/problem.ts'
import type { Api } from '../../api/types.ts'
import { Kind } from '../../components/kind.tsx'
import { PageTitle } from '../../components/page-title.tsx'
import { BelowUsage } from '../../components/quota-dialogs/below-usage.tsx'
import { quotaName } from '../../components/quota-labels.ts'
import { releaseInput, useUnsavedInput } from '../../components/unsaved-input.ts'
import { changedSettings, type FormValues, formValuesOf } from '../../model/quota-form.ts'
import { readNow, useChange } from '../../queries/calls.ts'
import { isBelowUsage } from '../../queries/quota-changes.ts'
import { texts } from '../../texts/texts.ts'
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
  useUnsavedInput(isChanged({ values, original }))
  const { id } = quota
  const saving = useChange('PUT /admin/quota/{id}', leave, async () =>
    setTheirs(await readNow('GET /admin/quota/{id}', { id })),
  )

  function leave() {
    releaseInput()
    onDone()
  }
  function save(draft: Draft, allowBelowUsage = false) {
    setDraft(draft)
    setTheirs(null)
    if (!isChanged(draft)) return leave()
    const settings = changedSettings(draft.values, draft.original)
    const body = { ...settings, ...(allowBelowUsage ? { allow_below_usage: true } : {}) }
    saving.mutate({ id, body, ifMatch: draft.original.version })
  }
  return (
    <>
      <PageTitle
        title={texts.quota.form.editTitle(quotaName(quota))}
        about={
          <>
            <Kind kind={quota.kind} /> · {texts.quota.settings.version(original.version)}
          </>
        }
      />
      {theirs !== null ? (
        <MergePanel
          values={values}
          original={original}
          theirs={theirs}
          isBusy={saving.isPending}
          onSave={merged => save({ values: merged, original: theirs })}
          onDiscard={leave}
        />
      ) : (
        <QuotaForm
          values={values}
          onChange={next => setDraft({ values: next, original })}
          original={original}
          error={isOutdated(saving.error) ? null : saving.error}
          isBusy={saving.isPending}
          onSubmit={() => save({ values, original })}
          submitLabel={texts.quota.form.save}
          onCancel={onDone}
          remedy={isBelowUsage(saving.error) && <BelowUsage onConfirm={() => save({ values, original }, true)} />}
        />
      )}
    </>
  )
}

function isChanged({ values, original }: Draft): boolean {
  return Object.keys(changedSettings(values, original)).length > 0
}
