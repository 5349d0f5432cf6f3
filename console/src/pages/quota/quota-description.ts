import { exceptionsOf } from '../../../../src/domain/messages/country.ts'
import type { Terms } from '../../model/quota-form.ts'
import type { description } from '../../texts/en/quota-description.ts'

type Words = typeof description

/** Formats values for the text; a parameter, so that the text can be tested in any locale. */
export interface Formatters {
  units(count: number): string
  timestamp(at: string): string
  country(code: string): string
  /** Of 04-01: 1 April. */
  dayOfYear(anchor: string): string
  list(items: readonly string[]): string
}

/**
 * Describes a quota in one line without a final period: "1,000 units each month, resets on the 1st at 00:00
 * Europe/Berlin; up to 200 unused units roll over".
 *
 * @param words the texts of a language
 */
export function describeQuota(terms: Terms, words: Words, formatters: Formatters): string {
  if (terms.kind === 'cap' && terms.limit === 0 && terms.per === null) return blockText(terms, words, formatters)
  return [
    allowanceText(terms, words, formatters),
    ...(terms.kind === 'cap' ? [words.acrossGrants] : rolloverTexts(terms, words, formatters)),
    ...lifetimeTexts(terms, words, formatters),
  ].join('; ')
}

/** A cap of 0 lets nothing pass, whenever it resets. */
function blockText(terms: Terms, words: Words, formatters: Formatters): string {
  const isScoped = terms.countries !== null || terms.message_types !== null
  const blocked = isScoped ? `${words.blocks}${scopeText(terms, words, formatters)}` : words.blocksAll
  return [blocked, ...lifetimeTexts(terms, words, formatters)].join('; ')
}

function allowanceText(terms: Terms, words: Words, formatters: Formatters): string {
  const { kind, limit, period, anchor, time_zone, per, counts } = terms
  const covered = scopeText(terms, words, formatters)
  const scope = per === null ? covered : `${words.per[per]}${covered === '' ? '' : words.only(covered)}`
  const reset = period === null ? '' : words.resets[period](time_zone, anchor, formatters.dayOfYear)
  if (limit === null) return `${words.unlimited}${scope}${period === null ? '' : words.countedEach[period]}${reset}`
  const units = words[counts](limit, formatters.units(limit))
  const allowance = kind === 'cap' ? words.atMost(units) : units
  return `${allowance}${period === null ? words.inTotal : words.each[period]}${scope}${reset}`
}

function rolloverTexts(terms: Terms, words: Words, { units }: Formatters): string[] {
  const { limit, period, rollover_limit, overage_limit } = terms
  if (limit === null) return []
  const rollover = rollover_limit > 0 ? words.rollover(units(rollover_limit)) : words.noRollover
  return [...(period === null ? [] : [rollover]), ...(overage_limit > 0 ? [words.overage(units(overage_limit))] : [])]
}

function lifetimeTexts(terms: Terms, words: Words, { timestamp }: Formatters): string[] {
  const { kind, limit, period, starts_at, expires_at } = terms
  const losesUnits = kind === 'grant' && limit !== null && period === null
  const parts = [
    ...(starts_at === null ? [] : [words.from(timestamp(starts_at))]),
    ...(expires_at === null ? [] : [(losesUnits ? words.untilLost : words.until)(timestamp(expires_at))]),
  ]
  return parts.length === 0 ? [] : [parts.join(' ')]
}

/** Longer lists are shown as a number. */
const MAX_NAMED = 5

function scopeText({ countries, message_types }: Terms, words: Words, { country, list }: Formatters): string {
  const types =
    message_types === null
      ? ''
      : message_types.length > MAX_NAMED
        ? words.manyTypes(message_types.length)
        : words.types(list(message_types))
  return `${types}${countries === null ? '' : destinationText(countries, words, { country, list })}`
}

function destinationText(
  countries: readonly string[],
  words: Words,
  { country, list }: Pick<Formatters, 'country' | 'list'>,
): string {
  if (countries.length <= MAX_NAMED) return words.countries(list(countries.map(country)))
  const others = exceptionsOf(countries) ?? []
  const isFew = others.length > 0 && others.length <= MAX_NAMED
  return isFew ? words.exceptCountries(list(others.map(country))) : words.manyCountries(countries.length)
}
