/** What stands in the links of messages to users: it proves that a caller has read a message to the address. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Shard, shardOfReference } from '../domain/basics/shard.ts'
import type { UserAddress } from '../domain/users/user-address.ts'

/** The purpose of a link. One that confirms does not stop, and the reverse. */
export type CodePurpose = 'confirm' | 'stop'

type Named = Pick<UserAddress, 'user_id' | 'serial'>

/** Where the links of a user, or to an address, are counted. */
export interface LinkCounter {
  shard: Shard
  digest: Uint8Array
}

export interface AddressCodes {
  codeOf(purpose: CodePurpose, address: Named): string
  /** The address that a code names; undefined: it is none of the service's for this purpose. */
  read(purpose: CodePurpose, code: string): Named | undefined
  /** What names an address, or a user, where links are counted. */
  counterOf(counted: string): LinkCounter
}

/** @param valueKey the service's key that hashes what it does not store */
export function createAddressCodes(valueKey: Uint8Array): AddressCodes {
  const key = createHmac('sha256', valueKey).update('addresses of users').digest()
  const hash = (...parts: (string | number)[]) => createHmac('sha256', key).update(parts.join(' ')).digest()

  const codeOf: AddressCodes['codeOf'] = (purpose, { user_id, serial }) =>
    `${user_id}.${serial}.${hash(purpose, user_id, serial).toString('base64url')}`

  return {
    codeOf,
    read(purpose, code) {
      const [user_id = Number.NaN, serial = Number.NaN] = code.split('.').map(Number)
      if (!Number.isSafeInteger(user_id) || !Number.isSafeInteger(serial)) return undefined
      const [own, given] = [Buffer.from(codeOf(purpose, { user_id, serial })), Buffer.from(code)]
      return own.length === given.length && timingSafeEqual(own, given) ? { user_id, serial } : undefined
    },
    counterOf(counted) {
      const digest = hash('count', counted)
      return { shard: shardOfReference(digest.toString('hex')), digest }
    },
  }
}
