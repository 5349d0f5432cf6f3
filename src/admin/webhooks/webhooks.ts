/** What administrators do with webhooks, and how the service disables one. */

import { type ChangeAuthor, insertChanges, nextVersion } from '../../db/changes/insert.ts'
import type { Database, Transaction } from '../../db/connection/database.ts'
import { appendSystemEvent } from '../../db/outbox/writes.ts'
import { movePending, restartPending } from '../../db/webhooks/maintenance.ts'
import type { SecretKeys } from '../../db/webhooks/secret-keys.ts'
import { findSigningWebhook, writeSecrets } from '../../db/webhooks/secrets.ts'
import {
  confirmAbsence,
  insertWebhook,
  lockWebhook,
  markDeleted,
  nextWebhookId,
  replaceWebhook,
  shardOfWebhook,
} from '../../db/webhooks/webhooks.ts'
import type { ActionOn } from '../../domain/events/audit.ts'
import { disablingOf } from '../../domain/events/outbox-event.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import {
  MAX_WEBHOOKS,
  ROTATION_OVERLAP_MS,
  SERVICE_ACTOR,
  type Webhook,
  type WebhookDraft,
  type WebhookKind,
  webhookView,
} from '../../domain/webhooks/webhook.ts'
import type { Author } from '../kit/author.ts'

/** A webhook to be made. */
export type NewWebhook = WebhookDraft & { kind?: WebhookKind }

/** A secret to be written, of some kinds the URL, and what encrypts it. */
export interface NewSecret {
  secret: Uint8Array
  keys: SecretKeys
}

/**
 * Creates a webhook, which receives the events committed from now on. Undefined if there are `MAX_WEBHOOKS` already.
 */
export function createWebhook(
  db: Pick<Database, 'transaction'>,
  draft: NewWebhook,
  { secret, keys }: NewSecret,
  author: Author,
): Promise<Webhook | undefined> {
  const { now, actor } = author
  return db.transaction(async tx => {
    const { id, present } = await nextWebhookId(tx)
    if (present >= MAX_WEBHOOKS) return undefined
    const webhook: Webhook = {
      kind: 'webhook',
      url: null,
      addresses: null,
      language: 'en',
      user_ids: null,
      types: null,
      only_when_low: null,
      digest: null,
      description: null,
      enabled: true,
      ...draft,
      id,
      disabled_reason: null,
      failing_since: null,
      previous_until: null,
      created_at: now,
      created_by: actor,
      updated_at: now,
      updated_by: actor,
    }
    await insertWebhook(tx, webhook)
    await writeSecrets(tx, keys, webhook, { secret, previous_secret: null })
    await record(tx, 'created', null, webhook, author)
    return webhook
  })
}

/**
 * Changes a webhook by merging, and its secret URL if it gets another. If it was disabled and is enabled again, every pending delivery begins a new series of
 * attempts. What waits for the hour of its digest moves with that. Undefined if there is no such webhook.
 */
export function updateWebhook(
  db: Pick<Database, 'transaction'>,
  id: number,
  patch: WebhookDraft,
  author: Author,
  url?: NewSecret,
): Promise<Webhook | undefined> {
  const { now, actor } = author
  return db.transaction(async tx => {
    const current = await lockWebhook(tx, id)
    if (current === undefined) return undefined
    const updated = { ...current, ...patch, updated_at: now, updated_by: actor }
    const isRevived = updated.enabled && !current.enabled
    const webhook = isRevived ? { ...updated, disabled_reason: null, failing_since: null } : updated
    await replaceWebhook(tx, webhook)
    if (url !== undefined) await writeSecrets(tx, url.keys, webhook, { secret: url.secret, previous_secret: null })
    await record(tx, 'updated', current, webhook, author)
    if (isRevived) await restartPending(tx, id, now)
    else if (patch.digest !== undefined) await movePending(tx, id, now)
    return webhook
  })
}

/**
 * Gives a webhook a new secret; the one before signs too for `ROTATION_OVERLAP_MS`. Undefined if there is no such
 * webhook.
 * @throws UnreadableSecret if this process cannot decrypt the secret before
 */
export function rotateSecret(
  db: Pick<Database, 'transaction'>,
  id: number,
  { secret, keys }: NewSecret,
  author: Author,
): Promise<Webhook | undefined> {
  const { now, actor } = author
  return db.transaction(async tx => {
    const current = await lockWebhook(tx, id)
    const signing = current && (await findSigningWebhook(tx, keys, id))
    if (current === undefined || signing === undefined) return undefined
    const webhook = { ...current, previous_until: now + ROTATION_OVERLAP_MS, updated_at: now, updated_by: actor }
    await replaceWebhook(tx, webhook)
    await writeSecrets(tx, keys, webhook, { secret, previous_secret: signing.secrets.secret })
    await record(tx, 'secret_rotated', current, webhook, author)
    return webhook
  })
}

/**
 * Replaces a secret that no key can decrypt any more by a new one, which is shown nowhere, and disables the webhook: its
 * receiver would refuse every delivery. The next rotation shows a secret.
 */
export function discardSecret(db: Database, id: number, { secret, keys }: NewSecret, now: EpochMs): Promise<void> {
  return db.transaction(async tx => {
    const current = await lockWebhook(tx, id)
    if (current === undefined) return
    const marks = { enabled: false, previous_until: null, updated_at: now, updated_by: SERVICE_ACTOR }
    const webhook = { ...current, ...marks }
    await replaceWebhook(tx, webhook)
    await writeSecrets(tx, keys, webhook, { secret, previous_secret: null })
    await record(tx, 'secret_discarded', current, webhook, { now, actor: SERVICE_ACTOR, requestId: null })
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

/** Records a change in the webhook's history, as the API shows the webhook before and after. */
async function record(
  tx: Transaction,
  action: ActionOn<'webhook'>,
  before: Webhook | null,
  after: Webhook | null,
  author: ChangeAuthor,
): Promise<void> {
  const id = (after ?? before)?.id
  if (id === undefined) throw new Error('a change has a webhook before or after it')
  const shown = (webhook: Webhook | null) => webhook && webhookView(webhook, author.now)
  const change = { version: await nextVersion(tx, 'webhook', id), action, before: shown(before), after: shown(after) }
  await insertChanges(tx, 'webhook', [{ id, ...change }], author)
}
