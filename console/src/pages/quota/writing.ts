import { countryName } from '../../parts/country.ts'
import { formatMoment } from '../../parts/moment.tsx'
import { formatUnits } from '../../parts/units.tsx'
import type { Writing } from './effect.ts'

/** As this reader writes. */
export const writing: Writing = { units: formatUnits, moment: formatMoment, country: countryName }
