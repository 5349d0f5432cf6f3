import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useRef, useState } from 'react'
import { DAY_MS } from '../../../../src/domain/time.ts'
import { Dialog, useDialogInput } from '../../components/dialog.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { fieldErrors, useFocusFirstError } from '../../components/form-errors.ts'
import { LOCAL_ZONE } from '../../formats.ts'
import { toFieldText, toTimestamp } from '../../model/local-time.ts'
import { useChange } from '../../queries/calls.ts'
import { texts } from '../../texts/texts.ts'

const { resendDialog: words } = texts.webhooks

/** Sends the events since a time again: those that failed, or all for a receiver that lost data. */
export default function ResendDialog(props: ResendProps) {
  return (
    <Dialog title={words.title} isOpen onClose={props.onClose}>
      <ResendForm {...props} />
    </Dialog>
  )
}

interface ResendProps {
  id: number
  onClose: () => void
}

function ResendForm({ id, onClose }: ResendProps) {
  const form = useRef<HTMLFormElement>(null)
  const [first] = useState(threeDaysAgo)
  const [since, setSince] = useState(first)
  const [scope, setScope] = useState('failed')
  const resend = useChange('POST /admin/webhooks/{id}/redeliver')
  useDialogInput(since !== first && !resend.isSuccess)
  const errors = fieldErrors(resend.error, ['since'], words.errors)
  useFocusFirstError(form, resend.error)

  function submit(event: FormEvent) {
    event.preventDefault()
    resend.mutate({ id, body: { since: toTimestamp(since), ...(scope === 'failed' && { status: 'failed' }) } })
  }
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack gap="md">
        <Radio.Group label={words.scope} value={scope} onChange={setScope}>
          <Stack gap="xs" mt={4}>
            <Radio value="failed" label={words.failed} />
            <Radio value="all" label={words.all} />
          </Stack>
        </Radio.Group>
        <TextInput
          type="datetime-local"
          step={1}
          label={words.since}
          description={LOCAL_ZONE}
          value={since}
          error={errors.at('since')}
          onChange={event => setSince(event.currentTarget.value)}
        />
        <ErrorNotice variant="action" error={errors.rest} />
        <Text size="sm" role="status">
          {resend.isSuccess && words.result(resend.data.redelivered)}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.close}
          </Button>
          <Button type="submit" loading={resend.isPending}>
            {words.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** To the minute: the service itself has repeated deliveries for three days. */
function threeDaysAgo(): string {
  const now = new Date(Date.now() - 3 * DAY_MS)
  now.setSeconds(0, 0)
  return toFieldText(now.toISOString())
}
