import type { AddressChanged, UserAddressSet } from '../../admin/user-address.ts'
import { HOUR_MS } from '../../domain/time.ts'
import { type AddressSet, MAX_LINKS_PER_HOUR } from '../../domain/user-address.ts'
import { invalidRequest, Problem } from '../../errors.ts'
import type { AddressCodes, CodePurpose } from '../../events/address-codes.ts'
import { rateLimited } from '../platform/rate-limiter.ts'

/** The address that a call has set. @throws Problem for any other outcome */
export function setOrThrow(set: UserAddressSet): AddressSet {
  switch (set.outcome) {
    case 'set':
      return set
    case 'too_many_links':
      throw rateLimited(
        `${MAX_LINKS_PER_HOUR} links were sent in this hour, to this address or for this user: no more are.`,
        HOUR_MS,
      )
    case 'being_erased':
      throw new Problem('being_erased', 'The data of this user is being erased.')
  }
}

/** @throws Problem if a link does not hold any more */
export function changedOrThrow({ outcome }: AddressChanged): void {
  if (outcome !== 'outdated') return
  throw new Problem(
    'link_outdated',
    'The link is too old, or the address was taken back, or another one has replaced it.',
  )
}

/** What the code of a link names. @throws Problem if it is none of the service's */
export function namedOrThrow(codes: AddressCodes | null, purpose: CodePurpose, code: string) {
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
