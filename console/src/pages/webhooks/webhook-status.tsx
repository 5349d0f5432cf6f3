import { Button, Text } from '@mantine/core'
import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Timestamp } from '../../components/values.tsx'
import { useChange } from '../../queries/calls.ts'
import { may } from '../../session/rights.ts'
import { useCaller } from '../../session/session.ts'
import { texts } from '../../texts/texts.ts'
import classes from './webhook.module.css'

type Webhook = Api['Webhook']

const { status, test } = texts.webhooks

/** Whether the webhook is enabled, and if not, why. */
export function WebhookStatus({
  enabled,
  disabled_reason,
  failing_since,
}: Pick<Webhook, 'enabled' | 'disabled_reason' | 'failing_since'>) {
  if (disabled_reason !== null) return <Badge tone="bad">{status.disabledBecause[disabled_reason]}</Badge>
  if (!enabled) return <Badge tone="held">{status.disabled}</Badge>
  if (failing_since === null) return <Badge tone="good">{status.enabled}</Badge>
  return <Badge tone="bad">{status.failing(<Timestamp at={failing_since} />)}</Badge>
}

/** The status, what it means, and what can be done about it. */
export function StatusPanel({ webhook }: { webhook: Webhook }) {
  const { id, enabled } = webhook
  const mayChange = may(useCaller(), 'change')
  const toggle = useChange('PUT /admin/webhooks/{id}')
  return (
    <section className={classes.status} aria-label={status.label}>
      <div>
        <div role="status">
          <WebhookStatus {...webhook} />
        </div>
        <Text size="sm" c="dimmed">
          {enabled ? status.aboutEnabled : status.aboutDisabled}
        </Text>
        <ErrorNotice variant="action" error={toggle.error} />
      </div>
      {mayChange && (
        <div className={classes.action}>
          <TestEvent id={id} />
          <Button
            variant="default"
            size="xs"
            loading={toggle.isPending}
            onClick={() => toggle.mutate({ id, body: { enabled: !enabled } })}
          >
            {enabled ? status.disable : status.enable}
          </Button>
        </div>
      )}
    </section>
  )
}

/** Sends a test event and shows the response of the receiver. */
export function TestEvent({ id }: { id: number }) {
  const sending = useChange('POST /admin/webhooks/{id}/test')
  return (
    <div className={classes.action}>
      <Button variant="default" size="xs" loading={sending.isPending} onClick={() => sending.mutate({ id })}>
        {test.send}
      </Button>
      <Text size="sm" role="status" component="div">
        {sending.isPending && test.waiting}
        {sending.isSuccess && (
          <>
            <Outcome {...sending.data} />
            {sending.data.answer !== null && (
              <Text size="sm" c="dimmed">
                {test.answer(sending.data.answer)}
              </Text>
            )}
          </>
        )}
      </Text>
      <ErrorNotice variant="action" error={sending.error} />
    </div>
  )
}

function Outcome({ delivered, response_code, error }: Api['WebhookAttempt']) {
  if (delivered) return <Badge tone="good">{test.delivered(response_code)}</Badge>
  return <Badge tone="bad">{test.failed(error ?? '', response_code)}</Badge>
}
