import { useEffect, useState } from 'react'
import { E164_PATTERN } from '../../../src/domain/bounds.ts'
import { costTexts } from '../texts/cost.ts'

const E164 = new RegExp(E164_PATTERN)

export interface Destination {
  /** ISO 3166 alpha-2; null if the number belongs to no country; undefined without a number or during the lookup. */
  country: string | null | undefined
  /** The error of the number; null if it is valid or incomplete. */
  error: string | null
}

/** The country of a typed number. The numbering plan is large, so it is loaded with the first valid number. */
export function useDestination(text: string): Destination {
  // Users group digits with spaces and punctuation.
  const number = text.replace(/[\s()./-]/g, '')
  const isNumber = E164.test(number)
  const [found, setFound] = useState<{ number: string; country: string | null } | null>(null)

  useEffect(() => {
    if (!isNumber) return
    let isStale = false
    import('../../../src/domain/destination.ts').then(
      ({ countryOf }) => {
        if (!isStale) setFound({ number, country: countryOf(number) })
      },
      () => {},
    )
    return () => {
      isStale = true
    }
  }, [number, isNumber])

  if (text === '') return { country: undefined, error: null }
  if (!isNumber) return { country: undefined, error: formatErrorOf(number) }
  return { country: found?.number === number ? found.country : undefined, error: null }
}

function formatErrorOf(number: string): string | null {
  // An incomplete number is not an error yet.
  if (/^\+\d?$/.test(number)) return null
  if (/^00/.test(number)) return costTexts.number.doubleZero
  if (/^\d+$/.test(number)) return costTexts.number.noPlus
  return costTexts.number.format
}
