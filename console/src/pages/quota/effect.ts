import type { Api } from '../../api/types.ts'

type Quota = Api['SmsQuota']

/** All of a quota that decides what it does. */
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
  /** null: it has started, or does so when it is made. */
  starts_at: string | null
}

/** How the reader writes numbers and timestamps, and calls countries. */
export interface Writing {
  units(count: number): string
  moment(at: string): string
  country(code: string): string
}

/**
 * What a quota does, in words: "1,000 units each month, starting anew on the 1st at 00:00 Europe/Berlin; unused up to
 * 200 carry over". A line without a full stop.
 */
export function effectOf(terms: Terms, writing: Writing): string {
  return [
    `${allowance(terms, writing)}${rhythm(terms, writing)}`,
    ...(terms.kind === 'cap' ? ['whichever grant pays'] : pastAndBeyond(terms, writing)),
    ...lifetime(terms, writing),
  ].join('; ')
}

function allowance({ kind, limit }: Terms, { units }: Writing): string {
  if (limit === null) return 'Unlimited units'
  const words = `${units(limit)} ${limit === 1 ? 'unit' : 'units'}`
  return kind === 'cap' ? `At most ${words}` : words
}

const ANEW: Record<NonNullable<Terms['period']>, (zone: string) => string> = {
  hour: zone => `on the hour in ${zone}`,
  day: zone => `at 00:00 ${zone}`,
  week: zone => `on Monday at 00:00 ${zone}`,
  month: zone => `on the 1st at 00:00 ${zone}`,
  year: zone => `on 1 January at 00:00 ${zone}`,
}

function rhythm(terms: Terms, writing: Writing): string {
  const { limit, period, time_zone } = terms
  const scope = scopeOf(terms, writing)
  if (period === null) return limit === null ? scope : ` in all${scope}`
  const anew = ANEW[period](time_zone)
  return limit === null
    ? `${scope}, counted each ${period} and anew ${anew}`
    : ` each ${period}${scope}, starting anew ${anew}`
}

function pastAndBeyond({ limit, period, rollover_limit, overage_limit }: Terms, { units }: Writing): string[] {
  if (limit === null) return []
  const carried = rollover_limit > 0 ? `unused up to ${units(rollover_limit)} carry over` : 'unused units lapse'
  return [
    ...(period === null ? [] : [carried]),
    ...(overage_limit > 0 ? [`up to ${units(overage_limit)} more may be drawn past the limit`] : []),
  ]
}

function lifetime({ starts_at, expires_at }: Terms, { moment }: Writing): string[] {
  const words = [
    ...(starts_at === null ? [] : [`from ${moment(starts_at)}`]),
    ...(expires_at === null ? [] : [`until ${moment(expires_at)}`]),
  ]
  return words.length === 0 ? [] : [words.join(' ')]
}

/** More than these nobody reads; their number tells more. */
const MAX_NAMED = 5

const list = new Intl.ListFormat('en-GB')

function scopeOf({ countries, message_types }: Terms, { country }: Writing): string {
  const types =
    message_types === null
      ? ''
      : message_types.length > MAX_NAMED
        ? ` for messages of ${message_types.length} types`
        : ` for ${list.format(message_types)} messages`
  const destinations =
    countries === null
      ? ''
      : countries.length > MAX_NAMED
        ? ` to ${countries.length} countries`
        : ` to ${list.format(countries.map(country))}`
  return `${types}${destinations}`
}
