/**
 * Encrypts the secrets of webhooks and the key of hashed values in the database (AES-256-GCM). An encrypted secret names the key that it was made with,
 * so several keys can be in use while one replaces another, and a wrong key is recognized before it is used.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Where a secret is: the column of a webhook, or the key of values. One that is copied to another place cannot be decrypted there. */
export type SecretPlace = { webhookId: number; column: 'secret' | 'previous_secret' } | typeof VALUE_KEY

/** The key that hashes recipients and tags. */
export const VALUE_KEY = 'value_counter'

export interface SecretKeys {
  /** Whether there is a current key: without one, secrets stay plain. */
  readonly canSeal: boolean
  /** Encrypts a secret with the current key; without one, returns it as it is. */
  seal(secret: Uint8Array, place: SecretPlace): Uint8Array
  /** @throws UnreadableSecret if no key fits */
  open(stored: Uint8Array, place: SecretPlace): Uint8Array
  /** Whether a stored secret is in the form that `seal` gives it. */
  isCurrent(stored: Uint8Array): boolean
}

/** A stored secret that none of this process's keys can decrypt. */
export class UnreadableSecret extends Error {
  override name = 'UnreadableSecret'

  constructor(place: SecretPlace) {
    const what = place === VALUE_KEY ? 'the key of recipients and tags' : `the secret of webhook ${place.webhookId}`
    super(`${what} was encrypted with a key that this process does not have`)
  }
}

/** The first bytes of an encrypted secret. A plain one is 32 random bytes, or a URL. */
const MARK = Buffer.from('sealed1:')
const ID_BYTES = 8
const NONCE_BYTES = 12
const TAG_BYTES = 16
const OVERHEAD = MARK.length + ID_BYTES + NONCE_BYTES + TAG_BYTES

/**
 * @param current the key of 32 bytes that encrypts; null: secrets stay plain
 * @param others further keys that decrypt
 */
export function secretKeys(current: Uint8Array | null, others: readonly Uint8Array[]): SecretKeys {
  const keys = new Map([...others, ...(current === null ? [] : [current])].map(key => [idOf(key).toString('hex'), key]))
  const currentId = current === null ? null : idOf(current)

  return {
    canSeal: current !== null,

    seal(secret, place) {
      if (current === null || currentId === null) return secret
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(contextOf(place))
      return Buffer.concat([MARK, currentId, nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
    },

    open(stored, place) {
      const parts = partsOf(stored)
      if (parts === null) return stored
      const key = keys.get(parts.id.toString('hex'))
      if (key === undefined) throw new UnreadableSecret(place)
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, parts.nonce).setAAD(contextOf(place))
        decipher.setAuthTag(parts.tag)
        return Buffer.concat([decipher.update(parts.content), decipher.final()])
      } catch {
        throw new UnreadableSecret(place)
      }
    },

    isCurrent(stored) {
      const parts = partsOf(stored)
      return currentId === null ? parts === null : parts?.id.equals(currentId) === true
    },
  }
}

/** The parts of an encrypted secret; null if it is plain. */
function partsOf(stored: Uint8Array) {
  const bytes = Buffer.from(stored)
  if (bytes.length < OVERHEAD || !bytes.subarray(0, MARK.length).equals(MARK)) return null
  const nonceAt = MARK.length + ID_BYTES
  const contentAt = nonceAt + NONCE_BYTES
  return {
    id: bytes.subarray(MARK.length, nonceAt),
    nonce: bytes.subarray(nonceAt, contentAt),
    content: bytes.subarray(contentAt, -TAG_BYTES),
    tag: bytes.subarray(-TAG_BYTES),
  }
}

/** Whether a stored secret is encrypted. */
export const isSealed = (stored: Uint8Array): boolean => partsOf(stored) !== null

/** Identifies a key without revealing it. */
const idOf = (key: Uint8Array) =>
  createHash('sha256').update('sms-quota secrets key\0').update(key).digest().subarray(0, ID_BYTES)

const contextOf = (place: SecretPlace) =>
  Buffer.from(place === VALUE_KEY ? place : `webhook ${place.webhookId} ${place.column}`)
