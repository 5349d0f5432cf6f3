import { countryName } from '../formats.ts'
import type { PausedDestination } from '../model/pauses.ts'
import { texts } from '../texts/texts.ts'
import { Timestamp } from './values.tsx'

/** "Messages to France are paused until …" */
export function PausedText({ pause: { country, message_types, until } }: { pause: PausedDestination }) {
  return texts.pauses.paused(countryName(country), message_types, until === null ? null : <Timestamp at={until} />)
}
