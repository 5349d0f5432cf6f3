import parsePhoneNumber from 'libphonenumber-js/min'

/**
 * The country of a number of E.164 form, as ISO 3166 alpha-2; null if it belongs to no country (satellites, free phone)
 * or to none that is known. Whether it is in service is not looked at.
 */
export function countryOf(number: string): string | null {
  return parsePhoneNumber(number)?.country ?? null
}
