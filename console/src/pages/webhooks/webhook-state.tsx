import type { Api } from '../../api/types.ts'
import { Badge } from '../../parts/badge.tsx'
import { Moment } from '../../parts/moment.tsx'

type Webhook = Api['Webhook']

/** Whether events are sent, and if not, why. */
export function WebhookState({
  enabled,
  disabled_reason,
  failing_since,
}: Pick<Webhook, 'enabled' | 'disabled_reason' | 'failing_since'>) {
  if (disabled_reason === 'gone') return <Badge tone="bad">Disabled: the receiver answered 410, it is gone</Badge>
  if (disabled_reason === 'failing') return <Badge tone="bad">Disabled: nothing got through for three days</Badge>
  if (!enabled) return <Badge tone="held">Off: events are held back</Badge>
  if (failing_since === null) return <Badge tone="good">On</Badge>
  return (
    <Badge tone="bad">
      On, but failing since <Moment at={failing_since} />
    </Badge>
  )
}
