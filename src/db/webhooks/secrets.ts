/** The secrets of webhooks. No other file reads or writes them; only what signs and what rotates needs them. */
import type { EpochMs } from '../../domain/time/time.ts'
import type { Webhook, WebhookSecrets } from '../../domain/webhooks/webhook.ts'
import type { Database, Queryable, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { type SecretKeys, UnreadableSecret } from './secret-keys.ts'
import { shardOfWebhook, WEBHOOK_COLUMNS } from './webhooks.ts'

/** A webhook with what signs its deliveries, or with its secret URL. */
export interface SigningWebhook extends Webhook {
  secrets: WebhookSecrets
}

/** The secrets as they are stored. */
interface StoredSecrets extends WebhookSecrets, Pick<Webhook, 'id'> {}

type LockedSecrets = StoredSecrets & Pick<Webhook, 'previous_until'>

/** A webhook and its secrets. @throws UnreadableSecret if this process has no key for one of them */
export async function findSigningWebhook(
  db: Queryable,
  keys: SecretKeys,
  id: number,
): Promise<SigningWebhook | undefined> {
  const [row] = await db.query<Webhook & StoredSecrets>({
    name: 'webhook-signing',
    text: sql`select ${WEBHOOK_COLUMNS}, secret, previous_secret from webhook
           where shard = $1 and id = $2 and deleted_at is null`,
    values: [shardOfWebhook(id), id],
  })
  if (row === undefined) return undefined
  const { secret, previous_secret, ...webhook } = row
  return { ...webhook, secrets: open(keys, { id, secret, previous_secret }) }
}

function open(keys: SecretKeys, { id: webhookId, secret, previous_secret: previous }: StoredSecrets): WebhookSecrets {
  return {
    secret: keys.open(secret, { webhookId, column: 'secret' }),
    previous_secret: previous && keys.open(previous, { webhookId, column: 'previous_secret' }),
  }
}

/**
 * Writes the secrets of a webhook, encrypted, and until when the one before signs. Its row is locked, or made by the same
 * transaction.
 */
export async function writeSecrets(
  tx: Transaction,
  keys: SecretKeys,
  { id: webhookId, previous_until }: Pick<Webhook, 'id' | 'previous_until'>,
  { secret, previous_secret: previous }: WebhookSecrets,
): Promise<void> {
  await tx.query({
    text: sql`update webhook set previous_until = $3, secret = $4, previous_secret = $5 where shard = $1 and id = $2`,
    values: [
      shardOfWebhook(webhookId),
      webhookId,
      timestampParam(previous_until),
      keys.seal(secret, { webhookId, column: 'secret' }),
      previous && keys.seal(previous, { webhookId, column: 'previous_secret' }),
    ],
  })
}

/** Removes the secrets that were replaced and do not sign any more at `now`. */
export async function clearEndedSecrets(db: Database, now: EpochMs): Promise<void> {
  await db.query({
    text: sql`update webhook set previous_secret = null, previous_until = null where previous_until <= $1`,
    values: [timestampParam(now)],
  })
}

/** The secrets of all webhooks, as they are stored; there are `MAX_WEBHOOKS` at most. */
function listStored(db: Queryable): Promise<StoredSecrets[]> {
  return db.query<StoredSecrets>({
    text: sql`select id, secret, previous_secret from webhook where deleted_at is null order by id`,
  })
}

/** The webhooks with a secret that no key can decrypt. */
export async function findUnreadable(db: Queryable, keys: SecretKeys): Promise<number[]> {
  const stored = await listStored(db)
  return stored.filter(secrets => !isReadable(keys, secrets)).map(({ id }) => id)
}

function isReadable(keys: SecretKeys, stored: StoredSecrets): boolean {
  try {
    open(keys, stored)
    return true
  } catch (error) {
    if (error instanceof UnreadableSecret) return false
    throw error
  }
}

/** Encrypts what is plain or was encrypted with another key with the current one. Leaves what no key can decrypt. */
export async function resealSecrets(db: Database, keys: SecretKeys): Promise<void> {
  const isCurrent = ({ secret, previous_secret: previous }: StoredSecrets) =>
    keys.isCurrent(secret) && (previous === null || keys.isCurrent(previous))
  for (const stored of await listStored(db)) {
    if (isCurrent(stored) || !isReadable(keys, stored)) continue
    await db.transaction(async tx => {
      const [locked] = await tx.query<LockedSecrets>({
        text: sql`select id, previous_until, secret, previous_secret from webhook where shard = $1 and id = $2 and deleted_at is null for update`,
        values: [shardOfWebhook(stored.id), stored.id],
      })
      if (locked !== undefined) await writeSecrets(tx, keys, locked, open(keys, locked))
    })
  }
}
