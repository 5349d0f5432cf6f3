import { COUNTRIES, INTERNATIONAL } from '../../../src/domain/messages/country.ts'
import { countryLabel, countryName } from '../formats.ts'
import { locale } from '../texts/language.ts'
import { CALLING_CODES, callingCodeOf, countriesOfDigits } from './calling-codes.ts'

/** Name, code and calling code, where users search by each: "Nigeria (NG, +234)". */
export function dialedCountryLabel(country: string): string {
  const code = callingCodeOf(country)
  return code === undefined ? countryLabel(country) : `${countryName(country)} (${country}, +${code})`
}

/** The countries that quotas can be scoped to, with some more, by their names. */
export function countryOptions(more: readonly string[] = []): { value: string; label: string }[] {
  return [...new Set([...COUNTRIES, ...more])]
    .map(value => ({ value, label: dialedCountryLabel(value) }))
    .toSorted((one, other) => one.label.localeCompare(other.label, locale))
}

/** The country that a text means: its label, name, code or calling code. Null if it means none, or several. */
export function countryOfText(text: string): string | null {
  const typed = text.trim().toLocaleLowerCase(locale)
  const dialed = CALLING_CODES.get(/^(?:\+|00)(\d+)$/.exec(typed)?.[1] ?? '')
  const isName = (code: string) =>
    [code, countryName(code), dialedCountryLabel(code)].some(name => name.toLocaleLowerCase(locale) === typed)
  const named = [...COUNTRIES].filter(isName)
  const [country, ...others] = named.length > 0 ? named : (dialed ?? [])
  return others.length === 0 ? (country ?? null) : null
}

/** The country that a time zone belongs to; null for one of none, such as UTC, or where the platform does not say. */
export function countryOfZone(zone: string): string | null {
  if (!('getTimeZones' in Intl.Locale.prototype)) return null
  const hasZone = (region: string) => new Intl.Locale('und', { region }).getTimeZones()?.includes(zone) === true
  return [...COUNTRIES].find(code => code !== INTERNATIONAL && hasZone(code)) ?? null
}

/** Fewer letters begin too many names. */
const MIN_LETTERS = 3

/** The countries that a text may mean: by the beginning of a name, a code, or a number or its beginning as in "+234". */
export function countriesLike(text: string): string[] {
  const digits = /^(?:\+|00)(\d+)$/.exec(text.replace(/[\s()./-]/g, ''))?.[1]
  if (digits !== undefined) return countriesOfDigits(digits)
  const typed = text.toLocaleLowerCase(locale)
  return [...COUNTRIES].filter(
    code =>
      code.toLowerCase() === typed ||
      (typed.length >= MIN_LETTERS && countryName(code).toLocaleLowerCase(locale).startsWith(typed)),
  )
}
