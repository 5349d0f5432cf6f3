/** The keys that webhook secrets are encrypted with, from the configuration or the data folder. */
import type { Config } from './config/config.ts'
import { ConfigError } from './config/config.ts'
import type { Database, Log, Queryable } from './db/connection/database.ts'
import { type SecretKeys, secretKeys } from './db/webhooks/secret-keys.ts'
import { findUnreadable } from './db/webhooks/secrets.ts'
import { isValueKeyLost, provideValueKey, type ValueKey } from './db/webhooks/value-key.ts'
import { type AddressCodes, createAddressCodes } from './events/address-codes.ts'
import { ownSecret, readOwnSecret } from './http/auth/secrets.ts'

const OWN_KEY = 'secrets-key'

type KeyConfig = Pick<Config, 'secretsKey' | 'secretsKeyPrevious' | 'databaseUrl' | 'dataDir'>

/**
 * The keys of this process. Beside its own database the service makes a key in its data folder; that key goes on
 * decrypting when `SECRETS_KEY` is set.
 * @throws ConfigError if the key in the data folder cannot be used
 */
export async function readSecretKeys(config: KeyConfig): Promise<SecretKeys> {
  const { secretsKey, secretsKeyPrevious, databaseUrl, dataDir } = config
  const previous = secretsKeyPrevious === null ? [] : [secretsKeyPrevious]
  if (databaseUrl !== null) return secretKeys(bytesOf(secretsKey), previous)
  if (secretsKey === null) return secretKeys(Buffer.from(await ownSecret(dataDir, OWN_KEY), 'base64url'), previous)
  const own = await readOwnSecret(dataDir, OWN_KEY)
  return secretKeys(bytesOf(secretsKey), own === null ? previous : [...previous, Buffer.from(own, 'base64url')])
}

/** The keys with which a service encrypts, and hashes values that it does not store. */
export interface Secrets {
  secretKeys: SecretKeys
  valueKey: ValueKey
  /** What stands in the links of messages to users, made of the same key. */
  addressCodes: AddressCodes | null
}

/** @throws ConfigError if the keys do not fit what is stored */
export async function provideSecrets(config: KeyConfig, db: Database, log: Log): Promise<Secrets> {
  const secretKeys = await readSecretKeys(config)
  await requireFittingKeys(db, secretKeys, config)
  if (hasNoKey(config)) log.warn({}, 'secrets: webhook secrets are stored as plain text; set SECRETS_KEY')
  const bytes = await provideValueKey(db, secretKeys)
  return { secretKeys, valueKey: { bytes }, addressCodes: bytes && createAddressCodes(bytes) }
}

const bytesOf = (key: Config['secretsKey']) => (key === 'off' ? null : key)

/**
 * Refuses keys that do not fit the stored secrets: without a signature no receiver would take a delivery, and what caps have counted would not
 * be found.
 * @throws ConfigError
 */
export async function requireFittingKeys(db: Queryable, keys: SecretKeys, config: KeyConfig): Promise<void> {
  const webhooks = await findUnreadable(db, keys)
  const unreadable = [
    ...(webhooks.length === 0 ? [] : [`the secrets of webhooks ${webhooks.join(', ')}`]),
    ...((await isValueKeyLost(db, keys)) ? ['the key of caps on each recipient and tag'] : []),
  ]
  if (unreadable.length === 0) return
  const [fault, key] = hasNoKey(config) ? ['is not set', 'a key'] : ['does not fit', 'another key']
  const message = `${fault}: ${unreadable.join(' and ')} ${webhooks.length === 0 ? 'was' : 'were'} encrypted with ${key}. Set that key as SECRETS_KEY or SECRETS_KEY_PREVIOUS. If it is lost, "sms-quota discard-secrets" replaces them`
  throw new ConfigError([{ variable: 'SECRETS_KEY', message }])
}

const hasNoKey = ({ secretsKey, databaseUrl }: KeyConfig): boolean => databaseUrl !== null && secretsKey === null
