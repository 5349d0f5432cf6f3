/** In English, as the sentences they stand in. */
const NAMES = new Intl.DisplayNames('en', { type: 'region' })

/** The name of a country; a code that this browser has no name for stays what it is. @param code ISO 3166 alpha-2 */
export function countryName(code: string): string {
  return NAMES.of(code) ?? code
}

/** Germany (DE): for lists and fields, where the code is looked for too. */
export function countryLabel(code: string): string {
  const name = countryName(code)
  return name === code ? code : `${name} (${code})`
}
