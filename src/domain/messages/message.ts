import { type Destination, destinationOf } from './destination.ts'
import type { SegmentRules } from './segment-rules.ts'
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
export function measureMessage(to: string, text: string, rules: SegmentRules): Measure {
  const { encoding, segments } = countSegments(text, rules)
  return { units: segments, encoding, segments, ...destinationOf(to) }
}
