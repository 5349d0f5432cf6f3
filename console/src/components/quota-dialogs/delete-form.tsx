import { Button, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { isOutdated } from '../../api/problem.ts'
import { isLive } from '../../model/quota-status.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { useDialogInput } from '../dialog.tsx'
import { ErrorNotice } from '../error-notice.tsx'
import { TextField } from '../text-field.tsx'
import { AboutQuota, EffectWithout, type QuotaFormProps } from './effect.tsx'

const TEXTS = texts.quota.delete

/** The share of a grant that may be lost without a typed confirmation. */
const SMALL_SHARE = 0.1

/** Deletes a quota, which cannot be undone: what is worth more than a click is confirmed by its name or id. */
export default function DeleteForm({ quota, onClose, onDone }: QuotaFormProps) {
  const { id, user_id, kind } = quota
  const needsName = isWorthTyping(quota)
  const [typed, setTyped] = useState('')
  useDialogInput(typed !== '')
  const [error, setError] = useState<string>()
  const deleting = useChange('DELETE /admin/quota/{id}', () => {
    onDone(TEXTS.done[kind])
    onClose()
  })

  function submit(event: FormEvent) {
    event.preventDefault()
    const isConfirmed = !needsName || [String(id), quota.name?.trim()].includes(typed.trim())
    setError(isConfirmed ? undefined : TEXTS.notConfirmed(id))
    if (isConfirmed && !deleting.isPending) deleting.mutate({ id, ifMatch: quota.version })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <AboutQuota quota={quota} />
        {deleting.error !== null && (
          <ErrorNotice variant="form" error={deleting.error}>
            {isOutdated(deleting.error) && TEXTS.changedMeanwhile}
          </ErrorNotice>
        )}
        {isLive(quota) && <EffectWithout quota={quota} />}
        <Text size="sm">{TEXTS.about[kind](user_id)}</Text>
        {needsName && (
          <TextField
            label={quota.name === null ? TEXTS.typeId(id) : TEXTS.typeName(id)}
            value={typed}
            onChange={setTyped}
            error={error}
          />
        )}
        <Button type="submit" color="red" loading={deleting.isPending}>
          {TEXTS.submit[kind]}
        </Button>
      </Stack>
    </form>
  )
}

/** A cap that is live or will be, and a grant with more than a little left. */
function isWorthTyping({ kind, status, limit, rolled_over, remaining }: QuotaFormProps['quota']): boolean {
  if (kind === 'cap') return status !== 'suspended' && status !== 'expired'
  if (status === 'expired') return false
  return limit === null || remaining === null || remaining > SMALL_SHARE * (limit + rolled_over)
}
