import type { Api } from '../../api/types.ts'

type Quota = Api['SmsQuota']

/** The settings that define the effect of a quota. */
export interface Terms
  extends Pick<
    Quota,
    | 'kind'
    | 'limit'
    | 'period'
    | 'time_zone'
    | 'rollover_limit'
    | 'overage_limit'
    | 'expires_at'
    | 'countries'
    | 'message_types'
  > {
  /** null if the quota has started or starts when it is created. */
  starts_at: string | null
}

/** Formats values for the text; a parameter, so that the text can be tested in any locale. */
export interface Formatters {
  units(count: number): string
  timestamp(at: string): string
  country(code: string): string
  list(items: readonly string[]): string
}

/**
 * Describes a quota in one line without a final period: "1,000 units each month, resets on the 1st at 00:00
 * Europe/Berlin; up to 200 unused units roll over".
 */
export function describeQuota(terms: Terms, formatters: Formatters): string {
  return [
    `${allowanceText(terms, formatters)}${resetText(terms, formatters)}`,
    ...(terms.kind === 'cap' ? ['across all grants'] : rolloverText(terms, formatters)),
    ...lifetimeText(terms, formatters),
  ].join('; ')
}

function allowanceText({ kind, limit }: Terms, { units }: Formatters): string {
  if (limit === null) return 'Unlimited units'
  const text = `${units(limit)} ${limit === 1 ? 'unit' : 'units'}`
  return kind === 'cap' ? `At most ${text}` : text
}

const RESETS: Record<NonNullable<Terms['period']>, (zone: string) => string> = {
  hour: zone => `on the hour in ${zone}`,
  day: zone => `at 00:00 ${zone}`,
  week: zone => `on Monday at 00:00 ${zone}`,
  month: zone => `on the 1st at 00:00 ${zone}`,
  year: zone => `on 1 January at 00:00 ${zone}`,
}

function resetText(terms: Terms, formatters: Formatters): string {
  const { limit, period, time_zone } = terms
  const scope = scopeText(terms, formatters)
  if (period === null) return limit === null ? scope : ` in total${scope}`
  const reset = RESETS[period](time_zone)
  return limit === null
    ? `${scope}, counted each ${period}, resets ${reset}`
    : ` each ${period}${scope}, resets ${reset}`
}

function rolloverText({ limit, period, rollover_limit, overage_limit }: Terms, { units }: Formatters): string[] {
  if (limit === null) return []
  const rollover =
    rollover_limit > 0 ? `up to ${units(rollover_limit)} unused units roll over` : 'unused units do not roll over'
  return [
    ...(period === null ? [] : [rollover]),
    ...(overage_limit > 0 ? [`overage of up to ${units(overage_limit)}`] : []),
  ]
}

function lifetimeText({ starts_at, expires_at }: Terms, { timestamp }: Formatters): string[] {
  const parts = [
    ...(starts_at === null ? [] : [`from ${timestamp(starts_at)}`]),
    ...(expires_at === null ? [] : [`until ${timestamp(expires_at)}`]),
  ]
  return parts.length === 0 ? [] : [parts.join(' ')]
}

/** Longer lists are shown as a number. */
const MAX_NAMED = 5

function scopeText({ countries, message_types }: Terms, { country, list }: Formatters): string {
  const types =
    message_types === null
      ? ''
      : message_types.length > MAX_NAMED
        ? ` for messages of ${message_types.length} types`
        : ` for ${list(message_types)} messages`
  const destinations =
    countries === null
      ? ''
      : countries.length > MAX_NAMED
        ? ` to ${countries.length} countries`
        : ` to ${list(countries.map(country))}`
  return `${types}${destinations}`
}
