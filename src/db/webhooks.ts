import { disablingOf } from '../domain/outbox-event.ts'
import { SHARD_COUNT, shardOfQuota } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import { MAX_WEBHOOKS, ROTATION_OVERLAP_MS, type Webhook, type WebhookDraft } from '../domain/webhook.ts'
import { type Database, type Queryable, type SqlValue, type Transaction, timestampParam } from './database.ts'
import { readOutboxEnds, recordEvent } from './outbox.ts'

/** Who writes, and when. */
interface Writer {
  now: EpochMs
  actor: string
}

const COLUMNS = `id, url, types, description, enabled, disabled_reason, failing_since, secret, previous_secret,
  previous_until, created_at, created_by, updated_at, updated_by`

/** A webhook's id tells its shard in the way of a quota's. */
export const shardOfWebhook = shardOfQuota

/** All webhooks, the oldest first; there are never many. */
export function listWebhooks(db: Queryable): Promise<Webhook[]> {
  return db.query<Webhook>({ text: `select ${COLUMNS} from webhook order by created_at, id` })
}

export async function findWebhook(db: Queryable, id: number): Promise<Webhook | undefined> {
  const [webhook] = await db.query<Webhook>({
    text: `select ${COLUMNS} from webhook where shard = $1 and id = $2`,
    values: [shardOfWebhook(id), id],
  })
  return webhook
}

/**
 * Makes a webhook, which is sent whatever is committed from now on: it begins at the ends that this transaction sees.
 * Undefined if there are too many.
 */
export function addWebhook(
  db: Database,
  draft: WebhookDraft,
  secret: Uint8Array,
  { now, actor }: Writer,
): Promise<Webhook | undefined> {
  return db.transaction(async tx => {
    const [row] = await tx.query<{ number: number; present: number }>({
      text: `select nextval('webhook_number') as number, (select count(*) from webhook) as present`,
    })
    if (row === undefined) throw new Error('nextval gave no row')
    if (row.present >= MAX_WEBHOOKS) return undefined
    const shard = row.number % SHARD_COUNT
    const id = row.number * SHARD_COUNT + shard
    const { url, types = null, description = null, enabled = true } = draft
    const [webhook] = await tx.query<Webhook>({
      text: `insert into webhook
               (shard, id, url, types, description, enabled, secret, created_at, created_by, updated_at, updated_by)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $8, $9) returning ${COLUMNS}`,
      values: [shard, id, url, types, description, enabled, secret, timestampParam(now), actor],
    })
    await tx.query({
      text: 'insert into webhook_cursor (shard, webhook_id, positions) values ($1, $2, $3)',
      values: [shard, id, await readOutboxEnds(tx)],
    })
    return webhook
  })
}

/** Changes a webhook by merging. One that is enabled again begins anew with all that waits for it. */
export function updateWebhook(
  db: Database,
  id: number,
  patch: Partial<WebhookDraft>,
  { now, actor }: Writer,
): Promise<Webhook | undefined> {
  return db.transaction(async tx => {
    const shard = shardOfWebhook(id)
    const [current] = await tx.query<Webhook>({
      text: `select ${COLUMNS} from webhook where shard = $1 and id = $2 for update`,
      values: [shard, id],
    })
    if (current === undefined) return undefined
    const next = { ...current, ...patch }
    const isRevived = next.enabled && !current.enabled
    const [webhook] = await tx.query<Webhook>({
      text: `update webhook set url = $3, types = $4, description = $5, enabled = $6, updated_at = $7, updated_by = $8
               ${isRevived ? ', disabled_reason = null, failing_since = null' : ''}
             where shard = $1 and id = $2 returning ${COLUMNS}`,
      values: [shard, id, next.url, next.types, next.description, next.enabled, timestampParam(now), actor],
    })
    if (isRevived) {
      await tx.query({
        text: `update webhook_delivery set next_attempt_at = $3, began_at = null, failures = 0
               where shard = $1 and webhook_id = $2 and status = 'pending'`,
        values: [shard, id, timestampParam(now)],
      })
    }
    return webhook
  })
}

/** Removes a webhook with all its deliveries. Answers whether there was one. */
export function removeWebhook(db: Database, id: number): Promise<boolean> {
  return db.transaction(async tx => {
    const rows = await tx.query({
      text: 'delete from webhook where shard = $1 and id = $2 returning id',
      values: [shardOfWebhook(id), id],
    })
    return rows.length > 0
  })
}

/** Gives a webhook another secret; the one it has signs as well for a while. */
export async function rotateSecret(
  db: Queryable,
  id: number,
  secret: Uint8Array,
  { now, actor }: Writer,
): Promise<Webhook | undefined> {
  const values: SqlValue[] = [
    shardOfWebhook(id),
    id,
    secret,
    timestampParam(now + ROTATION_OVERLAP_MS),
    timestampParam(now),
    actor,
  ]
  const [webhook] = await db.query<Webhook>({
    text: `update webhook set previous_secret = secret, previous_until = $4, secret = $3, updated_at = $5, updated_by = $6
           where shard = $1 and id = $2 returning ${COLUMNS}`,
    values,
  })
  return webhook
}

/** Disables a webhook that takes nothing any more, and tells so. The last that its transaction does. */
export async function disableWebhook(
  tx: Transaction,
  id: number,
  reason: 'failing' | 'gone',
  now: EpochMs,
): Promise<void> {
  const shard = shardOfWebhook(id)
  const [disabled] = await tx.query<Webhook>({
    text: `update webhook set enabled = false, disabled_reason = $3, updated_at = $4, updated_by = 'sms-quota'
           where shard = $1 and id = $2 and enabled returning ${COLUMNS}`,
    values: [shard, id, reason, timestampParam(now)],
  })
  if (disabled === undefined) return
  const event = disablingOf(disabled, reason)
  await recordEvent(tx, shard, event.type, now, event.data)
}
