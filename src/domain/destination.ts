import parsePhoneNumber from 'libphonenumber-js/min'

/**
 * The country of a phone number in E.164 form, as ISO 3166 alpha-2. Null if it belongs to no country (satellites, free
 * phone) or to an unknown one. Does not check whether the number is in service.
 */
export function countryOf(number: string): string | null {
  return parsePhoneNumber(number)?.country ?? null
}
