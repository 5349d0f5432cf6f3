import type { EVENT_TYPES } from '../../../../src/domain/event.ts'
import type { Api } from '../../api/types.ts'
import type { Tone } from '../../parts/badge.tsx'
import { formatUnits } from '../../parts/units.tsx'

/** What each type brings (src/domain/telling.ts); the API's document leaves it open. */
interface Brought {
  quota?: Api['SmsQuota']
  percent?: number
  reservation?: Api['Reservation']
  released?: number
  committed?: number
  webhook?: Pick<Api['Webhook'], 'id' | 'description' | 'disabled_reason'>
}

export interface Happening {
  tone: Tone
  /** What it happened to, and where that is shown. */
  subject: string
  href?: string
  words: string
}

type Teller = (brought: Brought) => Omit<Happening, 'subject' | 'href'>

const TELLERS: Record<(typeof EVENT_TYPES)[number], Teller> = {
  'quota.created': ({ quota }) => ({ tone: 'coming', words: `made${by(quota)}: ${allowance(quota)}` }),
  'quota.updated': ({ quota }) => ({ tone: 'over', words: `changed${by(quota)}: now ${allowance(quota)}` }),
  'quota.deleted': ({ quota }) => ({ tone: 'over', words: `deleted${by(quota)}` }),
  'quota.threshold_reached': ({ quota, percent = 0 }) => ({
    tone: percent >= 100 ? 'bad' : 'held',
    words: percent >= 100 ? 'used up' : `reached ${percent} %: ${left(quota)}`,
  }),
  'quota.expired': () => ({ tone: 'over', words: 'expired' }),
  'reservation.expired': ({ committed = 0, released = 0 }) => ({
    tone: 'over',
    words:
      committed > 0 ? `ran out of time: ${units(committed)} committed` : `ran out of time: ${units(released)} back`,
  }),
  'webhook.disabled': ({ webhook }) => ({
    tone: 'bad',
    words: webhook?.disabled_reason === 'gone' ? 'disabled: its receiver is gone' : 'disabled: nothing got through',
  }),
}

/** An event in words. A type that this console does not know yet is told by its name. */
export function happeningOf({ type, data }: Api['Event']): Happening {
  const brought: Brought = data
  const teller: Teller = isKnown(type) ? TELLERS[type] : () => ({ tone: 'over', words: type })
  return { ...subjectOf(brought), ...teller(brought) }
}

function isKnown(type: string): type is keyof typeof TELLERS {
  return Object.hasOwn(TELLERS, type)
}

function subjectOf({ quota, reservation, webhook }: Brought): Pick<Happening, 'subject' | 'href'> {
  if (quota !== undefined) return { subject: quota.name ?? `Quota ${quota.id}`, href: `/quotas/${quota.id}` }
  if (webhook !== undefined)
    return { subject: webhook.description ?? `Webhook ${webhook.id}`, href: `/webhooks/${webhook.id}` }
  return { subject: reservation === undefined ? '' : `Reservation ${reservation.id}` }
}

const by = (quota: Brought['quota']) => (quota === undefined ? '' : ` by ${quota.updated_by}`)
const units = (count: number) => `${formatUnits(count)} ${count === 1 ? 'unit' : 'units'}`
const left = (quota: Brought['quota']) => (quota?.remaining == null ? '' : `${units(quota.remaining)} left`)

function allowance(quota: Brought['quota']): string {
  if (quota === undefined) return ''
  const { limit, period, enabled } = quota
  const size = limit === null ? 'unlimited' : units(limit)
  return `${size}${period === null ? '' : ` each ${period}`}${enabled ? '' : ', suspended'}`
}
