import type { Api } from '../../api/types.ts'
import { KIND_LABELS } from '../../components/quota-labels.ts'
import { countryLabel, formatTimestamp } from '../../formats.ts'
import { texts } from '../../texts/texts.ts'

/** A quota or a recorded version of it. Old records can lack newer settings. */
type Shown = Api['QuotaAsShown']

/** Labels of the settings, in display order. */
export const SETTING_LABELS = {
  user_id: 'User id',
  kind: 'Kind',
  name: 'Name',
  limit: 'Limit',
  period: 'Resets',
  time_zone: 'Time zone',
  rollover_limit: 'Rollover',
  overage_limit: 'Overage',
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

export const PERIOD_LABELS: Record<NonNullable<Api['SmsQuota']['period']>, string> = {
  hour: 'Each hour',
  day: 'Each day',
  week: 'Each week',
  month: 'Each month',
  year: 'Each year',
}

export const PERIODS = Object.keys(PERIOD_LABELS) as (keyof typeof PERIOD_LABELS)[]

export type Setting = keyof typeof SETTING_LABELS
export const SETTINGS = Object.keys(SETTING_LABELS) as Setting[]

/** The value of a setting as text. */
export function settingText(name: Setting, quota: Shown): string {
  const value = quota[name]
  if (value === undefined) return 'Not recorded'
  switch (name) {
    case 'limit':
      return value === null ? 'Unlimited' : texts.values.units(Number(value))
    case 'period':
      return quota.period ? PERIOD_LABELS[quota.period] : 'One-time (does not reset)'
    case 'kind':
      return quota.kind === undefined ? '' : KIND_LABELS[quota.kind]
    case 'rollover_limit':
      return value === 0 ? 'None' : `Up to ${texts.values.units(Number(value))}`
    case 'overage_limit':
      return value === 0 ? 'None' : `Up to ${texts.values.units(Number(value))}`
    case 'starts_at':
    case 'expires_at':
      return typeof value === 'string' ? formatTimestamp(value) : 'Never'
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

function listOf(lines: string[]): string {
  return lines.length === 0 ? 'None' : lines.join(', ')
}
