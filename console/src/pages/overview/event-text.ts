import type { Api } from '../../api/types.ts'
import type { Tone } from '../../components/badge.tsx'
import { texts } from '../../texts/texts.ts'

type Quota = Api['SmsQuota']

/** An event as the activity feed shows it: "Monthly package reached 80%: 20 units left". */
export interface EventText {
  tone: Tone
  /** The name of the quota, reservation or webhook, and the path of its page. */
  subject: string
  href?: string
  /** What happened to it, as a predicate. */
  text: string
}

/** Describes an event. An event type that this version does not know is shown by its name. */
export function eventText({ type, data }: Api['Event']): EventText {
  switch (type) {
    case 'quota.created':
      return { ...quotaSubject(data), tone: 'coming', text: `created${by(data)}: ${allowance(data)}` }
    case 'quota.updated':
      return { ...quotaSubject(data), tone: 'over', text: `updated${by(data)}: now ${allowance(data)}` }
    case 'quota.deleted':
      return { ...quotaSubject(data), tone: 'over', text: `deleted${by(data)}` }
    case 'quota.threshold_reached':
      return data.percent >= 100
        ? { ...quotaSubject(data), tone: 'bad', text: 'exhausted' }
        : { ...quotaSubject(data), tone: 'held', text: `reached ${data.percent}%${remaining(data)}` }
    case 'quota.expired':
      return { ...quotaSubject(data), tone: 'over', text: 'expired' }
    case 'reservation.expired': {
      const { reservation, released, committed } = data
      const units =
        committed > 0 ? `${texts.values.units(committed)} committed` : `${texts.values.units(released)} released`
      return { subject: `Reservation ${reservation.id}`, tone: 'over', text: `expired, ${units}` }
    }
    case 'webhook.disabled': {
      const { id, description, disabled_reason } = data.webhook
      const reason = disabled_reason === 'gone' ? 'the receiver answered 410 Gone' : 'all deliveries failed'
      const subject = description ?? `Webhook ${id}`
      return { subject, href: `/webhooks/${id}`, tone: 'bad', text: `disabled: ${reason}` }
    }
    case 'user.erased':
      return { subject: `User ${data.erasure.user_id}`, tone: 'over', text: 'erased' }
    default:
      return { subject: '', tone: 'over', text: type }
  }
}

function quotaSubject({ quota }: { quota: Quota }): Pick<EventText, 'subject' | 'href'> {
  return { subject: quota.name ?? `Quota ${quota.id}`, href: `/quotas/${quota.id}` }
}

function by({ quota }: { quota: Quota }): string {
  return ` by ${quota.updated_by}`
}

function remaining({ quota }: { quota: Quota }): string {
  return quota.remaining === null ? '' : `: ${texts.values.units(quota.remaining)} left`
}

function allowance({ quota: { limit, period, enabled } }: { quota: Quota }): string {
  const size = limit === null ? 'unlimited' : texts.values.units(limit)
  return `${size}${period === null ? '' : ` each ${period}`}${enabled ? '' : ', suspended'}`
}
