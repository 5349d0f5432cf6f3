import { useEffect, useState } from 'react'
import { E164_PATTERN } from '../../../../src/domain/bounds.ts'

const E164 = new RegExp(E164_PATTERN)

export interface Destination {
  /** ISO 3166 alpha-2; null for none. Undefined: no number is there, or it is being looked up. */
  country: string | null | undefined
  /** What is wrong with the number; null if nothing is. */
  fault: string | null
}

/** The country of a number as it is typed. The table of all numbers is large and loaded with the first of them. */
export function useDestination(typed: string): Destination {
  // People put spaces and the like between groups of digits, senders do not.
  const number = typed.replace(/[\s()./-]/g, '')
  const isNumber = E164.test(number)
  const [found, setFound] = useState<{ number: string; country: string | null } | null>(null)

  useEffect(() => {
    if (!isNumber) return
    let isOld = false
    import('../../../../src/domain/destination.ts').then(
      ({ countryOf }) => {
        if (!isOld) setFound({ number, country: countryOf(number) })
      },
      () => {},
    )
    return () => {
      isOld = true
    }
  }, [number, isNumber])

  if (typed === '') return { country: undefined, fault: null }
  if (!isNumber) return { country: undefined, fault: faultOf(number) }
  return { country: found?.number === number ? found.country : undefined, fault: null }
}

function faultOf(number: string): string | null {
  // Half a number is not wrong yet.
  if (/^\+\d?$/.test(number)) return null
  if (/^00/.test(number)) return 'Begin with + instead of 00.'
  if (/^\d+$/.test(number)) return 'Begin with + and the country’s code, such as +49.'
  return 'A number in international form: + and up to 15 digits.'
}
