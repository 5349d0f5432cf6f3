import { Checkbox, Text } from '@mantine/core'
import { useState } from 'react'
import { isLive } from '../../model/quota-status.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { useDialogInput } from '../dialog.tsx'
import { Form } from '../form.tsx'
import { AboutQuota, EffectWithout, type QuotaFormProps } from './effect.tsx'

const TEXTS = texts.quota.suspend

/** Suspends a quota. For a cap, which then limits nothing, the user confirms that this is meant. */
export default function SuspendForm({ quota, onClose, onDone }: QuotaFormProps) {
  const needsConsent = quota.kind === 'cap' && isLive(quota)
  const [hasConsent, setConsent] = useState(false)
  useDialogInput(hasConsent)
  const [error, setError] = useState<string>()
  const suspending = useChange('PUT /admin/quota/{id}', () => {
    onDone(TEXTS.done[quota.kind])
    onClose()
  })

  function submit() {
    const isConfirmed = hasConsent || !needsConsent
    setError(isConfirmed ? undefined : TEXTS.consentMissing)
    if (isConfirmed) suspending.mutate({ id: quota.id, body: { enabled: false } })
  }
  return (
    <Form sending={suspending} onSubmit={submit} submit={TEXTS.submit[quota.kind]} isDanger>
      <AboutQuota quota={quota} />
      {isLive(quota) && <EffectWithout quota={quota} />}
      <Text size="sm">{TEXTS.about[quota.kind]}</Text>
      {needsConsent && (
        <Checkbox
          label={TEXTS.consent(quota.user_id)}
          checked={hasConsent}
          onChange={event => setConsent(event.currentTarget.checked)}
          error={error}
        />
      )}
    </Form>
  )
}
