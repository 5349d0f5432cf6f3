import { useEffect, useState } from 'react'
import { problemOfNumber, withoutGroups } from '../model/typed.ts'
import { texts } from '../texts/texts.ts'

export interface Destination {
  /** ISO 3166 alpha-2; null if its calling code is not assigned; undefined without a number, during the lookup, and if it fails. */
  country: string | null | undefined
  /** The error of the number; null if it is valid or incomplete. */
  error: string | null
  /** Whether the country is being looked up. */
  isPending: boolean
}

/**
 * The country of a typed number; null if it belongs to none, undefined if the numbering plan cannot be loaded. That is large, so
 * it is loaded with the first number.
 */
export function countryOfNumber(text: string): Promise<string | null | undefined> {
  return import('../../../src/domain/destination.ts').then(
    ({ destinationOf }) => destinationOf(withoutGroups(text)).country,
    () => undefined,
  )
}

/** The country of a typed number. */
export function useDestination(text: string): Destination {
  const number = withoutGroups(text)
  const problem = problemOfNumber(number)
  const isNumber = problem === null
  const [found, setFound] = useState<{ number: string; country: string | null | undefined } | null>(null)

  useEffect(() => {
    if (!isNumber) return
    let isStale = false
    void countryOfNumber(number).then(country => {
      if (!isStale) setFound({ number, country })
    })
    return () => {
      isStale = true
    }
  }, [number, isNumber])

  if (text === '') return { country: undefined, error: null, isPending: false }
  if (problem !== null)
    return { country: undefined, error: problem === 'incomplete' ? null : texts.cost.number[problem], isPending: false }
  const isFound = found?.number === number
  return { country: isFound ? found.country : undefined, error: null, isPending: !isFound }
}
