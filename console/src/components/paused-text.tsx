import type { ReactNode } from 'react'
import { countryName } from '../formats.ts'
import type { PausedDestination } from '../model/pauses.ts'
import { texts } from '../texts/texts.ts'
import { Timestamp } from './values.tsx'

interface PausedTextProps {
  pause: PausedDestination
  /** For those who see all users. */
  why?: ReactNode
}

/** "Messages to France are paused until …" */
export function PausedText({ pause: { country, message_types, until }, why = null }: PausedTextProps) {
  const at = until === null ? null : <Timestamp at={until} />
  return texts.pauses.paused(countryName(country), message_types, at, why)
}
