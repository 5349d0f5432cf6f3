import { countryName, formatList, formatTimestamp, formatUnits } from '../../formats.ts'
import type { Formatters } from './quota-description.ts'

/** Formatters in the user's locale. */
export const formatters: Formatters = {
  units: formatUnits,
  timestamp: formatTimestamp,
  country: countryName,
  list: formatList,
}
