import { type Destination, destinationOf } from './destination.ts'
import { countSegments, type Encoding } from './segments.ts'

export interface Measure extends Destination {
  /** The message's cost: its segments. */
  units: number
  encoding: Encoding
  segments: number
}

/**
 * How many SMS a text takes, and which country it goes to. An empty text is one segment: it is sent and billed as one.
 *
 * @param to a phone number in E.164 form
 */
export function measureMessage(to: string, text: string): Measure {
  const { encoding, segments } = countSegments(text)
  return { units: segments, encoding, segments, ...destinationOf(to) }
}
