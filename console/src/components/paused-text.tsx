import type { ReactNode } from 'react'
import { countryName } from '../formats.ts'
import { codesOf, type Pause, type PausedDestination } from '../model/pauses.ts'
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

/** What the breaker saw, or what a person wrote; null if that is nothing. */
export function whyOf({ evidence, reason }: Pick<Pause, 'evidence' | 'reason'>): ReactNode {
  if (evidence === null) return reason === null ? null : <bdi>{reason}</bdi>
  const { period, codes, entered } = codesOf(evidence)
  return texts.pauses.codes[period](codes, entered)
}
