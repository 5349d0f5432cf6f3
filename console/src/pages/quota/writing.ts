import { formatMoment } from '../../parts/moment.tsx'
import { formatUnits } from '../../parts/units.tsx'
import type { Writing } from './effect.ts'

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' })

/** The name of a country; a code that this browser has no name for stays what it is. */
export function countryName(code: string): string {
  return COUNTRY_NAMES.of(code) ?? code
}

/** As this reader writes. */
export const writing: Writing = { units: formatUnits, moment: formatMoment, country: countryName }
