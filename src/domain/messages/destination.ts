import parsePhoneNumber, { type PhoneNumber } from 'libphonenumber-js/min'
import metadata from 'libphonenumber-js/min/metadata'
import { INTERNATIONAL } from './country.ts'

/** Where a number leads, as far as numbering plans tell. */
export interface Destination {
  /** ISO 3166 alpha-2, or `001` for international networks. Null if the calling code is not assigned. */
  readonly country: string | null
  /**
   * Further countries that it may belong to. Several countries share some calling codes, and a number of such a code that the plan
   * does not list is often in service: frauds rent numbers there. It counts as one of the main country; caps of the others hold, too.
   */
  readonly otherCountries: readonly string[]
}

const ELSEWHERE: Destination = { country: null, otherCountries: [] }

/** The destination of a phone number in E.164 form. Does not check whether the number is in service. */
export function destinationOf(number: string): Destination {
  const parsed = readByPlan(number)
  if (parsed === undefined) return ELSEWHERE
  if (parsed.country !== undefined) return { country: parsed.country, otherCountries: [] }
  const [main, ...others] = countriesOf(parsed.countryCallingCode)
  // Calling codes of no country, such as 881 for satellites.
  if (main === undefined) return { country: INTERNATIONAL, otherCountries: [] }
  return { country: main, otherCountries: others }
}

/** How many prefixes a number may have. */
const MAX_PREFIXES = 20

/**
 * Reads a number by the plan of its calling code, which takes a trunk prefix out of it that people leave there, as in +44 07911. One
 * that is there several times takes as many readings. Undefined if no country has the calling code.
 */
export function readByPlan(number: string, prefixes = MAX_PREFIXES): PhoneNumber | undefined {
  const parsed = parsePhoneNumber(number)
  if (parsed === undefined || prefixes === 0) return parsed
  const shorter = parsed.number === number ? withoutStrangeZero(parsed) : parsed.number
  return shorter === undefined ? parsed : (readByPlan(shorter, prefixes - 1) ?? parsed)
}

/** A number without zeros with which its plan does not list it, and without which it does: some plans have no trunk prefix. */
function withoutStrangeZero(parsed: PhoneNumber): string | undefined {
  if (!parsed.nationalNumber.startsWith('0') || parsed.isValid()) return undefined
  const without = parsePhoneNumber(`+${parsed.countryCallingCode}${parsed.nationalNumber.replace(/^0+/, '')}`)
  return without?.isValid() === true ? without.number : undefined
}

/** The countries of a calling code, the main one first. */
function countriesOf(callingCode: string): readonly string[] {
  const codes: Readonly<Record<string, readonly string[]>> = metadata.country_calling_codes
  return codes[callingCode] ?? []
}
