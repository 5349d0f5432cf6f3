import type { Api } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Timestamp } from '../../components/values.tsx'

type Webhook = Api['Webhook']

/** Whether the webhook is enabled, and if not, why. */
export function WebhookStatus({
  enabled,
  disabled_reason,
  failing_since,
}: Pick<Webhook, 'enabled' | 'disabled_reason' | 'failing_since'>) {
  if (disabled_reason === 'gone') return <Badge tone="bad">Disabled: the receiver answered 410 Gone</Badge>
  if (disabled_reason === 'failing') return <Badge tone="bad">Disabled: all deliveries failed for 3 days</Badge>
  if (!enabled) return <Badge tone="held">Disabled: events are kept until it is enabled</Badge>
  if (failing_since === null) return <Badge tone="good">Enabled</Badge>
  return (
    <Badge tone="bad">
      Enabled, failing since <Timestamp at={failing_since} />
    </Badge>
  )
}
