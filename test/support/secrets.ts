/** Secrets of webhooks for tests that are not about their encryption. */
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'

/** Leaves secrets as they are. */
export const PLAIN = secretKeys(null, [])

export const SOME_SECRET = { secret: new Uint8Array(32), keys: PLAIN }
