/** English, like the rest of the console. */
const NAMES = new Intl.DisplayNames('en', { type: 'region' })

/** The name of a country, or the code if the browser knows no name for it. @param code ISO 3166 alpha-2 */
export function countryName(code: string): string {
  return NAMES.of(code) ?? code
}

/** Name and code for lists and fields, where users search by either: "Germany (DE)". */
export function countryLabel(code: string): string {
  const name = countryName(code)
  return name === code ? code : `${name} (${code})`
}
