import { Button, Checkbox, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { isLive } from '../../model/quota-status.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'
import { useDialogInput } from '../dialog.tsx'
import { ErrorNotice } from '../error-notice.tsx'
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

  function submit(event: FormEvent) {
    event.preventDefault()
    const isConfirmed = hasConsent || !needsConsent
    setError(isConfirmed ? undefined : TEXTS.consentMissing)
    if (isConfirmed && !suspending.isPending) suspending.mutate({ id: quota.id, body: { enabled: false } })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <AboutQuota quota={quota} />
        {suspending.error !== null && <ErrorNotice variant="form" error={suspending.error} />}
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
        <Button type="submit" color="red" loading={suspending.isPending}>
          {TEXTS.submit[quota.kind]}
        </Button>
      </Stack>
    </form>
  )
}
