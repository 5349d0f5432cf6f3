import { countryName } from '../../components/country.ts'
import { formatTimestamp } from '../../components/timestamp.tsx'
import { formatUnits } from '../../components/units.tsx'
import type { Formatters } from './quota-description.ts'

/** Formatters in the user's locale. */
export const formatters: Formatters = { units: formatUnits, timestamp: formatTimestamp, country: countryName }
