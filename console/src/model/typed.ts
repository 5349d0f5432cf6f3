import { E164_PATTERN } from '../../../src/domain/basics/bounds.ts'

/** Numbers as people type them. */

/**
 * Parses a whole number. In 1 000, 1,000 and 1.000 the separator groups thousands, because units have no fractions.
 *
 * @param empty the value of an empty text
 * @returns the text if it is not a whole number: the service rejects it with a message
 */
export function wholeNumber(text: string, empty: number | '' = ''): number | string {
  const trimmed = text.trim()
  if (trimmed === '') return empty
  const digits = /^\d{1,3}(?:[\s.,'’_]\d{3})+$/.test(trimmed) ? trimmed.replaceAll(/\D/g, '') : trimmed
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return Number.isSafeInteger(value) ? value : trimmed
}

/** A whole number of units; null while the text is none. */
export function unitsIn(text: string): number | null {
  const units = wholeNumber(text)
  return typeof units === 'number' ? units : null
}

/** The share that a text in percent names; the text if it is no number. */
export function shareOf(text: string): number | string {
  const percent = text.trim().replace(',', '.')
  return /^\d+(?:\.\d+)?$/.test(percent) ? Number((Number(percent) / 100).toFixed(8)) : text
}

/** A share as it is typed in percent: 0.07 × 100 is 7.000000000000001. */
export const percentOf = (share: number): string => String(Number((100 * share).toFixed(6)))

const E164 = new RegExp(E164_PATTERN)

/** Users group digits with spaces and punctuation. */
export const withoutGroups = (text: string) => text.replace(/[\s()./-]/g, '')

/** What keeps a text without groups from being a number; null if it is one. An incomplete number is no error yet. */
export function problemOfNumber(text: string): 'incomplete' | 'doubleZero' | 'noPlus' | 'format' | null {
  if (E164.test(text)) return null
  if (/^\+\d?$/.test(text)) return 'incomplete'
  if (/^00/.test(text)) return 'doubleZero'
  return /^\d+$/.test(text) ? 'noPlus' : 'format'
}
