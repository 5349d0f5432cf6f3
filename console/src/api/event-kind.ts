import { isExtra } from '../components/extra-grant.ts'
import { dayOf } from '../local-time.ts'
import type { Api } from './types.ts'

type Event = Api['Event']

/** What a new quota is for: a cap of 0 blocks, and an extra grant adds to another one for a time. */
export type Purpose = 'grant' | 'cap' | 'block' | 'extra'

export function purposeOf(quota: Api['SmsQuota']): Purpose {
  if (quota.kind === 'cap') return quota.limit === 0 ? 'block' : 'cap'
  return isExtra(quota) ? 'extra' : 'grant'
}

/** What the activity feed counts events by: the day, what happened, and who did it. */
export function kindOf({ type, at, data }: Event): string {
  const parts = [dayOf(at), type]
  if (type === 'quota.created') parts.push(purposeOf(data.quota))
  if (type === 'quota.created' || type === 'quota.updated' || type === 'quota.deleted')
    parts.push(data.quota.updated_by ?? '')
  if (type === 'quota.threshold_reached') parts.push(String(Math.min(100, data.percent)))
  return parts.join(' ')
}
