import type { Database } from '../db/connection/database.ts'
import type { SecretKeys } from '../db/webhooks/secret-keys.ts'
import { clearEndedSecrets, resealSecrets } from '../db/webhooks/secrets.ts'
import { refreshValueKey, resealValueKey, type ValueKey } from '../db/webhooks/value-key.ts'
import { type EpochMs, removalTime } from '../domain/time/time.ts'
import type { Job } from './runner.ts'

export interface WebhookSecretsOptions {
  db: Database
  keys: SecretKeys
  /** The key that this process hashes values with. */
  valueKey: ValueKey
  now: () => EpochMs
}

const INTERVAL_MS = 60_000

/**
 * Removes secrets that a rotation has replaced, once they do not sign any more, and encrypts the others, and the key of values, with
 * the current key. Then takes the key of values that is stored: each process runs it.
 */
export function createWebhookSecrets({ db, keys, valueKey, now }: WebhookSecretsOptions): Job {
  return {
    name: 'webhook secrets',
    async step() {
      await clearEndedSecrets(db, removalTime(now()))
      await resealSecrets(db, keys)
      await resealValueKey(db, keys)
      await refreshValueKey(db, keys, valueKey)
      return { isBehind: false, pauseMs: () => INTERVAL_MS }
    },
  }
}
