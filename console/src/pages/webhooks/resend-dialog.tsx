import { Text } from '@mantine/core'
import { useState } from 'react'
import { DAY_MS } from '../../../../src/domain/time/time.ts'
import { Dialog, useDialogInput } from '../../components/dialog.tsx'
import { Form, Leave } from '../../components/form.tsx'
import { fieldErrors } from '../../components/form-errors.ts'
import { RadioField } from '../../components/radio-field.tsx'
import { TextField } from '../../components/text-field.tsx'
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
  const [first] = useState(threeDaysAgo)
  const [since, setSince] = useState(first)
  const [scope, setScope] = useState<'failed' | 'all'>('failed')
  const resend = useChange('POST /admin/webhooks/{id}/redeliver')
  useDialogInput(since !== first && !resend.isSuccess)
  const errors = fieldErrors(resend.error, ['since'], words.errors)

  function submit() {
    resend.mutate({ id, body: { since: toTimestamp(since), ...(scope === 'failed' && { status: 'failed' }) } })
  }
  return (
    <Form
      sending={resend}
      rest={errors.rest}
      onSubmit={submit}
      submit={words.submit}
      beside={<Leave onClick={onClose}>{words.close}</Leave>}
    >
      <RadioField label={words.scope} value={scope} onChange={setScope} choices={['failed', 'all']} labels={words} />
      <TextField
        type="datetime-local"
        step={1}
        label={words.since}
        about={LOCAL_ZONE}
        value={since}
        error={errors.at('since')}
        onChange={setSince}
      />
      <Text size="sm" role="status">
        {resend.isSuccess && words.result(resend.data.redelivered)}
      </Text>
    </Form>
  )
}

/** To the minute: the service itself has repeated deliveries for three days. */
function threeDaysAgo(): string {
  const now = new Date(Date.now() - 3 * DAY_MS)
  now.setSeconds(0, 0)
  return toFieldText(now.toISOString())
}
