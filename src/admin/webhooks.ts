/** What administrators do with webhooks, and how the service disables one. */
import type { Database, Transaction } from '../db/database.ts'
import { appendSystemEvent } from '../db/outbox-writes.ts'
import { insertWebhookChange } from '../db/webhook-history.ts'
import { restartPending } from '../db/webhook-upkeep.ts'
import {
  confirmAbsence,
  insertWebhook,
  lockWebhook,
  markDeleted,
  nextWebhookId,
  replaceWebhook,
  shardOfWebhook,
} from '../db/webhooks.ts'
import { disablingOf } from '../domain/outbox-event.ts'
import type { EpochMs } from '../domain/time.ts'
import {
  MAX_WEBHOOKS,
  ROTATION_OVERLAP_MS,
  SERVICE_ACTOR,
  type Webhook,
  type WebhookAction,
  type WebhookDraft,
  webhookView,
} from '../domain/webhook.ts'
import type { Author } from './author.ts'

/**
 * Creates a webhook, which receives the events committed from now on. Undefined if there are `MAX_WEBHOOKS` already.
 */
export function createWebhook(
  db: Pick<Database, 'transaction'>,
  draft: WebhookDraft,
  secret: Uint8Array,
  author: Author,
): Promise<Webhook | undefined> {
  const { now, actor } = author
  return db.transaction(async tx => {
    const { id, present } = await nextWebhookId(tx)
    if (present >= MAX_WEBHOOKS) return undefined
    const webhook: Webhook = {
      types: null,
      description: null,
      enabled: true,
      ...draft,
      id,
      disabled_reason: null,
      failing_since: null,
      secret,
      previous_secret: null,
      previous_until: null,
      created_at: now,
      created_by: actor,
      updated_at: now,
      updated_by: actor,
    }
    await insertWebhook(tx, webhook)
    await record(tx, 'created', null, webhook, author)
    return webhook
  })
}

/**
 * Changes a webhook by merging. If it was disabled and is enabled again, every pending delivery begins a new series of
 * attempts. Undefined if there is no such webhook.
 */
export function updateWebhook(
  db: Pick<Database, 'transaction'>,
  id: number,
  patch: Partial<WebhookDraft>,
  author: Author,
): Promise<Webhook | undefined> {
  const { now, actor } = author
  return db.transaction(async tx => {
    const current = await lockWebhook(tx, id)
    if (current === undefined) return undefined
    const updated = { ...current, ...patch, updated_at: now, updated_by: actor }
    const isRevived = updated.enabled && !current.enabled
    const webhook = isRevived ? { ...updated, disabled_reason: null, failing_since: null } : updated
    await replaceWebhook(tx, webhook)
    await record(tx, 'updated', current, webhook, author)
    if (isRevived) await restartPending(tx, id, now)
    return webhook
  })
}

/**
 * Gives a webhook a new secret; the one before signs too for `ROTATION_OVERLAP_MS`. Undefined if there is no such
 * webhook.
 */
export function rotateSecret(
  db: Pick<Database, 'transaction'>,
  id: number,
  secret: Uint8Array,
  author: Author,
): Promise<Webhook | undefined> {
  const { now, actor } = author
  return db.transaction(async tx => {
    const current = await lockWebhook(tx, id)
    if (current === undefined) return undefined
    const overlap = { previous_secret: current.secret, previous_until: now + ROTATION_OVERLAP_MS }
    const webhook = { ...current, secret, ...overlap, updated_at: now, updated_by: actor }
    await replaceWebhook(tx, webhook)
    await record(tx, 'secret_rotated', current, webhook, author)
    return webhook
  })
}

/** Deletes a webhook; jobs remove its deliveries. Resolves to whether there was one. */
export function deleteWebhook(db: Database, id: number, author: Author): Promise<boolean> {
  return db.transaction(async tx => {
    const webhook = await lockWebhook(tx, id)
    if (webhook === undefined) {
      await confirmAbsence(tx)
      return false
    }
    await markDeleted(tx, id, author.now)
    await record(tx, 'deleted', webhook, null, author)
    return true
  })
}

/**
 * Disables a webhook whose receiver takes nothing any more, and emits `webhook.disabled`. It does nothing if the
 * webhook is disabled already. To be called last in its transaction, which it makes hold the lock on the end of the
 * outbox.
 */
export async function disableWebhook(
  tx: Transaction,
  id: number,
  reason: 'failing' | 'gone',
  now: EpochMs,
): Promise<void> {
  const webhook = await lockWebhook(tx, id)
  if (webhook === undefined || !webhook.enabled) return
  const marks = { enabled: false, disabled_reason: reason, updated_at: now, updated_by: SERVICE_ACTOR } as const
  const disabled = { ...webhook, ...marks }
  await replaceWebhook(tx, disabled)
  await record(tx, 'disabled', webhook, disabled, { now, actor: SERVICE_ACTOR, requestId: null })
  await appendSystemEvent(tx, shardOfWebhook(id), disablingOf(webhook, reason), now)
}

/** Who makes a change; the service itself has no request. */
type Recorder = Omit<Author, 'requestId'> & { requestId: string | null }

/** Records a change in the webhook's history, as the API shows the webhook before and after. */
function record(
  tx: Transaction,
  action: WebhookAction,
  before: Webhook | null,
  after: Webhook | null,
  { now, actor, requestId }: Recorder,
): Promise<void> {
  const id = (after ?? before)?.id
  if (id === undefined) throw new Error('a change has a webhook before or after it')
  const shown = (webhook: Webhook | null) => webhook && webhookView(webhook, now)
  const change = { action, at: now, actor, request_id: requestId, before: shown(before), after: shown(after) }
  return insertWebhookChange(tx, id, change)
}
