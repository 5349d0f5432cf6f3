import { exceptionsOf } from '../../../../src/domain/messages/country.ts'
import type { QuotaIdentity, SettingName } from '../../../../src/domain/quotas/quota-settings.ts'
import type { Api } from '../../api/types.ts'
import { countedText, KIND_LABELS } from '../../components/quota-labels.ts'
import {
  countryLabel,
  countryName,
  formatDayOfYear,
  formatList,
  formatPercent,
  formatTimestamp,
  formatUnits,
} from '../../formats.ts'
import type { Terms } from '../../model/quota-form.ts'
import { texts } from '../../texts/texts.ts'
import { describeQuota } from './quota-description.ts'

/** A quota or a recorded version of it. Old records can lack newer settings. */
type Shown = Api['QuotaAsShown']

const TEXTS = texts.quota.settings

/** Describes a quota in one line, in the language and locale of the page. */
export function describe(terms: Terms): string {
  return describeQuota(terms, texts.quota.description, {
    units: formatUnits,
    timestamp: formatTimestamp,
    country: countryName,
    dayOfYear: formatDayOfYear,
    list: formatList,
  })
}

/** Labels of the settings and of what is fixed, in display order. */
export const SETTING_LABELS = TEXTS.labels satisfies Record<SettingName | keyof QuotaIdentity, string>
export const PERIOD_LABELS = TEXTS.periods

export type Setting = keyof typeof SETTING_LABELS
export const SETTINGS = Object.keys(SETTING_LABELS) as Setting[]

/** What a field is called, also one of a newer service. */
export function fieldLabel(name: string): string {
  return Object.entries(SETTING_LABELS).find(([known]) => known === name)?.[1] ?? name
}

/** The value of a setting as text. */
export function settingText(name: Setting, quota: Shown): string {
  const value = quota[name]
  if (value === undefined) return TEXTS.notRecorded
  switch (name) {
    case 'limit':
      return value === null ? texts.values.unlimited : countedText(Number(value), quota.counts)
    case 'period':
      return quota.period ? periodText(quota.period, quota.anchor ?? null) : TEXTS.oneTime
    case 'anchor':
      return typeof value === 'string' ? TEXTS.day(value) : TEXTS.none
    case 'per':
      return TEXTS.per[quota.per ?? 'all']
    case 'counts':
      return TEXTS.counts[quota.counts ?? 'units']
    case 'kind':
      return quota.kind === undefined ? '' : KIND_LABELS[quota.kind]
    case 'rollover_limit':
    case 'overage_limit':
      return value === 0 ? TEXTS.none : TEXTS.upTo(Number(value))
    case 'starts_at':
    case 'expires_at':
      return typeof value === 'string' ? formatTimestamp(value) : TEXTS.never
    case 'countries':
      return quota.countries ? countriesText(quota.countries) : TEXTS.all
    case 'message_types':
      return quota.message_types?.join(', ') ?? TEXTS.all
    case 'alert_at':
      return quota.alert_at?.length
        ? TEXTS.alertsAt(quota.alert_at.map(percent => formatPercent(percent / 100)).join(', '))
        : TEXTS.none
    case 'enabled':
      return value === true ? TEXTS.no : TEXTS.yes
    case 'metadata':
      return listOf(Object.entries(quota.metadata ?? {}).map(([key, text]) => `${metadataLabel(key)}: ${text}`))
    default:
      return value === null ? TEXTS.none : String(value)
  }
}

/** The countries, or those that are left out if that are fewer. */
export function countriesText(countries: readonly string[]): string {
  const list = (codes: readonly string[]) => codes.map(countryLabel).join(', ')
  const others = exceptionsOf(countries)
  return others === null ? list(countries) : texts.values.allExcept(list(others))
}

function periodText(period: keyof typeof PERIOD_LABELS, anchor: string | null): string {
  const label = PERIOD_LABELS[period]
  return anchor === null ? label : TEXTS.fromDay(label, anchor)
}

/** What a key of the metadata means, if the console writes it. */
export function metadataLabel(key: string): string {
  return Object.entries(TEXTS.metadata).find(([known]) => known === key)?.[1] ?? key
}

function listOf(lines: string[]): string {
  return lines.length === 0 ? TEXTS.none : lines.join(', ')
}
