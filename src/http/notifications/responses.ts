import { invalidRequest, Problem } from '../../errors.ts'
import type { AddressCodes, CodePurpose } from '../../events/address-codes.ts'

export const ADDRESS = { what: 'address' }

/** What the code of a link names. @throws Problem if it is none of the service's */
export function namedBy(codes: AddressCodes | null, purpose: CodePurpose, code: string) {
  const named = codes?.read(purpose, code)
  if (named === undefined)
    throw invalidRequest([{ path: '/code', message: 'must be what follows # in the link of a message, all of it' }])
  return named
}

export const isOff = () =>
  new Problem(
    'not_found',
    'The service sends users no messages: it needs USER_NOTIFICATIONS=true, and an enabled webhook of the kind users.',
  )
