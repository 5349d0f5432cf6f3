import { Text } from '@mantine/core'
import { useState } from 'react'
import { isOutdated } from '../../api/problem.ts'
import { isLive } from '../../model/quota-status.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { useDialogInput } from '../dialog.tsx'
import { Form } from '../form.tsx'
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

  function submit() {
    const isConfirmed = !needsName || [String(id), quota.name?.trim()].includes(typed.trim())
    setError(isConfirmed ? undefined : TEXTS.notConfirmed(id))
    if (isConfirmed) deleting.mutate({ id, ifMatch: quota.version })
  }
  return (
    <Form
      sending={deleting}
      remedy={isOutdated(deleting.error) && TEXTS.changedMeanwhile}
      onSubmit={submit}
      submit={TEXTS.submit[kind]}
      isDanger
    >
      <AboutQuota quota={quota} />
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
    </Form>
  )
}

/** A cap that is live or will be, and a grant with more than a little left. */
function isWorthTyping({ kind, status, limit, rolled_over, remaining }: QuotaFormProps['quota']): boolean {
  if (kind === 'cap') return status !== 'suspended' && status !== 'expired'
  if (status === 'expired') return false
  return limit === null || remaining === null || remaining > SMALL_SHARE * (limit + rolled_over)
}
