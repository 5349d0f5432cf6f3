/** Lists of most countries, which people write and read as those that are left out. The API has the list itself. */
import { COUNTRIES, exceptionsOf, isCountry, othersThan } from '../../domain/messages/country.ts'
import type { Field } from './fields.ts'

/** Stands in place of `countries`. */
export const EXCEPTIONS = 'except_countries'

export const EXCEPTIONS_FIELD: Field = {
  path: [EXCEPTIONS],
  option: EXCEPTIONS.replace('_', '-'),
  schema: {
    type: 'array',
    items: { type: 'string' },
    description: 'Destinations it does not cover, such as DE: all others are its countries',
  },
  isNullable: false,
  isRequired: false,
}

/** An object with `countries` in place of `except_countries`, or what is wrong with these. */
export function withCountries(fields: Readonly<Record<string, unknown>>): { value: object } | { issue: string } {
  if (!(EXCEPTIONS in fields)) return { value: fields }
  const { [EXCEPTIONS]: exceptions, ...others } = fields
  if ('countries' in others) return { issue: 'cannot be combined with countries' }
  const codes: unknown[] = Array.isArray(exceptions) ? exceptions : []
  const known = codes.filter(code => typeof code === 'string').filter(isCountry)
  if (known.length === 0 || known.length < codes.length || known.length === COUNTRIES.size)
    return { issue: 'must be a list of some countries, such as DE, AT' }
  return { value: { ...others, countries: othersThan(known) } }
}

/** "all but DE", if a list is of most countries. */
export function exceptionsText(list: readonly unknown[]): string | undefined {
  const codes = list.filter(code => typeof code === 'string').filter(isCountry)
  const exceptions = codes.length === list.length ? exceptionsOf(codes) : null
  if (exceptions === null) return undefined
  return exceptions.length === 0 ? 'all' : `all but ${exceptions.join(',')}`
}
