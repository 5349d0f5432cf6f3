const names = new Intl.DisplayNames(undefined, { type: 'region' })

/** Germany (DE). @param code ISO 3166 alpha-2 */
export function countryName(code: string): string {
  const name = names.of(code)
  return name === undefined || name === code ? code : `${name} (${code})`
}
