import type { Api } from '../../api/types.ts'
import { countryLabel } from '../../parts/country.ts'
import { formatMoment } from '../../parts/moment.tsx'
import { KIND_WORDS } from '../../parts/quota-words.ts'
import { formatUnits } from '../../parts/units.tsx'

/** A quota, or a change of one. Records of long ago may lack what the contract gained since. */
type Shown = Api['QuotaAsShown']

/** What administrators say about a quota, in the order in which it is told, and what each is called. */
export const SETTING_LABELS = {
  user_id: 'User id',
  kind: 'Kind',
  name: 'Name',
  limit: 'Limit',
  period: 'Starts anew',
  time_zone: 'Time zone',
  rollover_limit: 'Carries over',
  overage_limit: 'Past the limit',
  starts_at: 'Starts',
  expires_at: 'Expires',
  countries: 'Countries',
  message_types: 'Message types',
  alert_at: 'Alerts',
  enabled: 'Suspended',
  priority: 'Priority',
  external_ref: 'External reference',
  metadata: 'Metadata',
} satisfies Partial<Record<keyof Shown, string>>

export const PERIOD_WORDS: Record<NonNullable<Api['SmsQuota']['period']>, string> = {
  hour: 'Each hour',
  day: 'Each day',
  week: 'Each week',
  month: 'Each month',
  year: 'Each year',
}

export const PERIODS = Object.keys(PERIOD_WORDS) as (keyof typeof PERIOD_WORDS)[]

export type Setting = keyof typeof SETTING_LABELS
export const SETTINGS = Object.keys(SETTING_LABELS) as Setting[]

/** What a setting says, in words for people. */
export function settingText(name: Setting, quota: Shown): string {
  const value = quota[name]
  if (value === undefined) return 'Not recorded'
  switch (name) {
    case 'limit':
      return value === null ? 'Unlimited' : units(value)
    case 'period':
      return quota.period ? PERIOD_WORDS[quota.period] : 'Never'
    case 'kind':
      return quota.kind === undefined ? '' : KIND_WORDS[quota.kind]
    case 'rollover_limit':
      return value === 0 ? 'Nothing' : `Up to ${units(value)}`
    case 'overage_limit':
      return value === 0 ? 'Nothing: the limit is hard' : `Up to ${units(value)}`
    case 'starts_at':
    case 'expires_at':
      return typeof value === 'string' ? formatMoment(value) : 'Never'
    case 'countries':
      return quota.countries?.map(countryLabel).join(', ') ?? 'All'
    case 'message_types':
      return quota.message_types?.join(', ') ?? 'All'
    case 'alert_at':
      return quota.alert_at?.length ? `At ${quota.alert_at.map(percent => `${percent}%`).join(', ')} used` : 'None'
    case 'enabled':
      return value === true ? 'No' : 'Yes'
    case 'metadata':
      return listOf(Object.entries(quota.metadata ?? {}).map(([key, text]) => `${key}: ${text}`))
    default:
      return value === null ? 'None' : String(value)
  }
}

function units(value: unknown): string {
  return `${formatUnits(Number(value))} ${value === 1 ? 'unit' : 'units'}`
}

function listOf(lines: string[]): string {
  return lines.length === 0 ? 'None' : lines.join(', ')
}
