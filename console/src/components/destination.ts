import { useEffect, useState } from 'react'
import { problemOfNumber, withoutGroups } from '../model/typed.ts'
import { texts } from '../texts/texts.ts'

export interface Destination {
  /** ISO 3166 alpha-2; null if its calling code is not assigned; undefined without a number, during the lookup, and if it fails. */
  country: string | null | undefined
  /** Further countries of its calling code that it may belong to: caps on them count it, too. */
  others: readonly string[]
  /** The error of the number; null if it is valid or incomplete. */
  error: string | null
  /** Whether the country is being looked up. */
  isPending: boolean
}

type Found = Pick<Destination, 'country' | 'others'>

const UNKNOWN: Found = { country: undefined, others: [] }

/**
 * The countries of a typed number; null if it belongs to none, undefined if the numbering plan cannot be loaded. That is large, so
 * it is loaded with the first number.
 */
export function countriesOfNumber(text: string): Promise<Found> {
  return import('../../../src/domain/messages/destination.ts').then(
    ({ destinationOf }) => {
      const { country, otherCountries: others } = destinationOf(withoutGroups(text))
      return { country, others }
    },
    () => UNKNOWN,
  )
}

/** The country of a typed number. */
export function useDestination(text: string): Destination {
  const number = withoutGroups(text)
  const problem = problemOfNumber(number)
  const isNumber = problem === null
  const [found, setFound] = useState<(Found & { number: string }) | null>(null)

  useEffect(() => {
    if (!isNumber) return
    let isStale = false
    void countriesOfNumber(number).then(countries => {
      if (!isStale) setFound({ number, ...countries })
    })
    return () => {
      isStale = true
    }
  }, [number, isNumber])

  if (text === '') return { ...UNKNOWN, error: null, isPending: false }
  if (problem !== null)
    return { ...UNKNOWN, error: problem === 'incomplete' ? null : texts.cost.number[problem], isPending: false }
  const { country, others } = found?.number === number ? found : UNKNOWN
  return { country, others, error: null, isPending: found?.number !== number }
}
