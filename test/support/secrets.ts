/** Webhooks and their secrets, for tests that are not about their encryption. */
import { createWebhook, type NewWebhook } from '../../src/admin/webhooks/webhooks.ts'
import type { Database } from '../../src/db/connection/database.ts'
import { secretKeys } from '../../src/db/webhooks/secret-keys.ts'

/** Leaves secrets as they are. */
export const PLAIN = secretKeys(null, [])

export const SOME_SECRET = { secret: new Uint8Array(32), keys: PLAIN }

/** Adds a webhook that was created at `now`. @returns its id */
export async function addWebhook(db: Database, draft: NewWebhook, now: number, secret = SOME_SECRET): Promise<number> {
  const webhook = await createWebhook(db, draft, secret, { now, actor: 'ada', requestId: 'test' })
  if (webhook === undefined) throw new Error('there are too many webhooks')
  return webhook.id
}
