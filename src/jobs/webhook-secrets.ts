import type { Database } from '../db/connection/database.ts'
import type { SecretKeys } from '../db/webhooks/secret-keys.ts'
import { clearEndedSecrets, resealSecrets } from '../db/webhooks/secrets.ts'
import { resealValueKey } from '../db/webhooks/value-key.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Job } from './runner.ts'

export interface WebhookSecretsOptions {
  db: Database
  keys: SecretKeys
  now: () => EpochMs
}

const INTERVAL_MS = 60_000

/**
 * Removes secrets that a rotation has replaced, once they do not sign any more, and encrypts the others, and the key of values, with
 * the current key. Any number of processes may run it.
 */
export function createWebhookSecrets({ db, keys, now }: WebhookSecretsOptions): Job {
  return {
    name: 'webhook secrets',
    async step() {
      await clearEndedSecrets(db, now())
      await resealSecrets(db, keys)
      await resealValueKey(db, keys)
      return { isBehind: false, pauseMs: () => INTERVAL_MS }
    },
  }
}
