import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { Api } from '../../api/types.ts'
import { quotaQuery } from '../../queries/quota.ts'
import { texts } from '../../texts/texts.ts'
import { Dialog } from '../dialog.tsx'
import { Loading } from '../loaded.tsx'
import type { QuotaFormProps } from './effect.tsx'

type Quota = Api['SmsQuota']

const FORMS = {
  adjust: lazy(() => import('./adjust-form.tsx')),
  suspend: lazy(() => import('./suspend-form.tsx')),
  transfer: lazy(() => import('./transfer-form.tsx')),
  delete: lazy(() => import('./delete-form.tsx')),
}

const TITLES = texts.dialogTitles

/** What a dialog does to a quota. */
export interface QuotaAction {
  name: keyof typeof FORMS
  quota: Quota
  /** Whether it is to help a user that the quota blocks: the dialog then proposes the smallest change. */
  isRemedy?: boolean
}

interface QuotaDialogProps extends Omit<QuotaFormProps, 'quota' | 'isRemedy'> {
  /** null closes the dialog. */
  action: QuotaAction | null
}

/**
 * The dialog that adjusts, suspends or deletes a quota, or hands its units on, for any page that shows one; its form is loaded when it opens.
 * Who may do what: `adjustsQuotas` and `changesQuotas` of `rights.ts`.
 */
export function QuotaDialog({ action, onClose, onDone }: QuotaDialogProps) {
  // Keeps the content while the dialog closes.
  const [shown, setShown] = useState(action)
  if (action !== null && action !== shown) setShown(action)
  return (
    <Dialog title={shown === null ? '' : titleOf(shown)} isOpen={action !== null} onClose={onClose}>
      {shown !== null && (
        <Suspense fallback={<Loading rows={5} height={36} />}>
          <LatestForm action={shown} onClose={onClose} onDone={onDone} />
        </Suspense>
      )}
    </Dialog>
  )
}

function titleOf({ name, quota: { kind, period, user_id }, isRemedy }: QuotaAction): string {
  if (name !== 'adjust' || isRemedy !== true) return TITLES[name][kind]
  return kind === 'cap' ? TITLES.raise(period, user_id) : TITLES.add(user_id)
}

/** Reads the quota again: a list can be older than what the dialog is about to change. */
function LatestForm({
  action: { name, quota, isRemedy = false },
  onClose,
  onDone,
}: QuotaDialogProps & { action: QuotaAction }) {
  const latest = useQuery({ ...quotaQuery(quota.id), initialData: quota, initialDataUpdatedAt: 0 })
  const Form = FORMS[name]
  return <Form quota={latest.data} isRemedy={isRemedy} onClose={onClose} onDone={onDone} />
}
