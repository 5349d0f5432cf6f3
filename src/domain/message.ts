import { countryOf } from './destination.ts'
import { countSegments, type Encoding } from './segments.ts'

export interface Measure {
  /** What the message costs: its segments. */
  units: number
  encoding: Encoding
  segments: number
  /** ISO 3166 alpha-2; null if the number belongs to no country (satellites, free phone) or to none that is known. */
  country: string | null
}

/**
 * How many SMS a text takes, and where it goes. An empty text is one segment: it is sent and billed as one.
 *
 * @param to a number of E.164 form; whether it is in service is not looked at.
 */
export function measureMessage(to: string, text: string): Measure {
  const { encoding, segments } = countSegments(text)
  return { units: segments, encoding, segments, country: countryOf(to) }
}
