import { Button, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { request } from '../../api/client.ts'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import classes from './webhook.module.css'

/** Sends a test event and shows the response of the receiver. */
export function TestEvent({ id }: { id: number }) {
  const test = useMutation({
    mutationFn: () => request<Api['WebhookAttempt']>(`/admin/webhooks/${id}/test`, { method: 'POST' }),
  })
  return (
    <div className={classes.action}>
      <Button variant="default" size="xs" loading={test.isPending} onClick={() => test.mutate()}>
        Send test event
      </Button>
      <Text size="sm" role="status" component="div">
        {test.isPending && 'Waiting for the receiver (up to 10 seconds)…'}
        {test.isSuccess && <Outcome {...test.data} />}
      </Text>
      <ErrorNotice variant="action" error={test.error} />
    </div>
  )
}

function Outcome({ delivered, response_code, error }: Api['WebhookAttempt']) {
  if (delivered) return <Badge tone="good">Delivered: the receiver answered {response_code}</Badge>
  return (
    <Badge tone="bad">
      Not delivered: {response_code === null ? error : `the receiver answered ${response_code}, which is not a 2xx`}
    </Badge>
  )
}
