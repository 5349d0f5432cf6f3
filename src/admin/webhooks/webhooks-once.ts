/** Administrators' calls that change webhooks, each of which takes effect once under its Idempotency-Key. */
import { createHash } from 'node:crypto'
import { type Database, joinTransaction, type Transaction } from '../../db/connection/database.ts'
import { redeliver, redeliverSince } from '../../db/webhooks/delivery-lists.ts'
import type { SecretKeys } from '../../db/webhooks/secret-keys.ts'
import { findSigningWebhook } from '../../db/webhooks/secrets.ts'
import type { EventKey } from '../../domain/events/event.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { DESTINATIONS, type Webhook, type WebhookDraft } from '../../domain/webhooks/webhook.ts'
import type { Author } from '../kit/author.ts'
import { once, onceInSteps, type Repeated } from '../kit/idempotency.ts'
import { createWebhook, type NewSecret, type NewWebhook, rotateSecret, updateWebhook } from './webhooks.ts'

interface WebhookChange {
  outcome: 'changed'
  webhook: Webhook
  /**
   * The secret that the call made; null if it made none, another one has replaced it since, or the webhook is deleted.
   */
  secret: Uint8Array | null
  /** When the call was first answered. */
  at: EpochMs
}

export type NotDone =
  /** There is no such webhook or delivery. */
  | { outcome: 'not_found' }
  | { outcome: 'too_many_webhooks' }
  /** The key came with another request before; the fields that differ. */
  | { outcome: 'mismatch'; fields: string[] }

export function createWebhookOnce(
  db: Database,
  draft: NewWebhook,
  secret: NewSecret,
  author: Author,
  key: string | undefined,
): Promise<WebhookChange | NotDone> {
  const isUrl = DESTINATIONS[draft.kind ?? 'webhook'] === 'secret url'
  const request = { operation: 'createWebhook', ...draft, ...(isUrl ? urlDigestOf(secret) : {}) }
  const create = (tx: Transaction) => createWebhook(joinTransaction(tx), draft, secret, author)
  return changeOnce(db, key, request, author, create, secret, 'too_many_webhooks')
}

export function updateWebhookOnce(
  db: Database,
  id: number,
  patch: WebhookDraft,
  author: Author,
  key: string | undefined,
  url?: NewSecret,
): Promise<WebhookChange | NotDone> {
  const request = { operation: 'updateWebhook', id, ...patch, ...(url === undefined ? {} : urlDigestOf(url)) }
  return changeOnce(db, key, request, author, tx => updateWebhook(joinTransaction(tx), id, patch, author, url))
}

/** Tells a repetition from a request with another secret URL. The URL itself is not remembered. */
const urlDigestOf = ({ secret }: NewSecret) => ({ url_digest: digestOf(secret) })

export function rotateSecretOnce(
  db: Database,
  id: number,
  secret: NewSecret,
  author: Author,
  key: string | undefined,
): Promise<WebhookChange | NotDone> {
  const request = { operation: 'rotateWebhookSecret', id }
  return changeOnce(db, key, request, author, tx => rotateSecret(joinTransaction(tx), id, secret, author), secret)
}

/** What is remembered of a change. The secret itself stays in the webhook's row. */
interface RememberedChange {
  webhook: Webhook
  /** Null: the call made no secret. */
  secret_digest: string | null
}

async function changeOnce(
  db: Database,
  key: string | undefined,
  request: { operation: string },
  author: Author,
  change: (tx: Transaction) => Promise<Webhook | undefined>,
  made?: NewSecret,
  refused: 'not_found' | 'too_many_webhooks' = 'not_found',
): Promise<WebhookChange | NotDone> {
  const secret_digest = made === undefined ? null : digestOf(made.secret)
  const answerOf = (webhook: Webhook | undefined) => webhook && { webhook, secret_digest }
  const done = await once<Webhook | undefined, RememberedChange>(db, { key, request, answerOf }, author, change)
  if (done === undefined) return { outcome: refused }
  if (!('outcome' in done)) return { outcome: 'changed', webhook: done, secret: made?.secret ?? null, at: author.now }
  if (done.outcome === 'mismatch') return done
  const { webhook, secret_digest: digest } = done.answer
  const secret = made === undefined ? null : await findSecret(db, made.keys, webhook.id, digest)
  return { outcome: 'changed', webhook, secret, at: done.at }
}

async function findSecret(db: Database, keys: SecretKeys, id: number, digest: string | null) {
  const secret = (await findSigningWebhook(db, keys, id))?.secrets.secret
  return secret !== undefined && digestOf(secret) === digest ? secret : null
}

function digestOf(secret: Uint8Array): string {
  return createHash('sha256').update(secret).digest('hex')
}

interface Redelivery {
  outcome: 'redelivered'
  redelivered: number
}

/** Sends one event again. */
export async function redeliverOnce(
  db: Database,
  id: number,
  delivery: EventKey,
  author: Author,
  key: string | undefined,
): Promise<Redelivery | NotDone> {
  const request = { operation: 'redeliverWebhookDelivery', id, delivery: { ...delivery } }
  const call = { key, request, answerOf: redelivered }
  return redeliveryOf(
    await once<number | undefined, Redelivery>(db, call, author, async tx =>
      (await redeliver(tx, id, delivery, author.now)) ? 1 : undefined,
    ),
  )
}

/** Sends all events since a time again, or those whose deliveries failed. */
export async function redeliverSinceOnce(
  db: Database,
  id: number,
  { since, status }: { since: EpochMs; status: 'failed' | undefined },
  author: Author,
  key: string | undefined,
): Promise<Redelivery | NotDone> {
  const request = { operation: 'redeliverWebhook', id, since, ...(status === undefined ? {} : { status }) }
  const call = { key, request, answerOf: redelivered }
  return redeliveryOf(
    await onceInSteps<number | undefined, Redelivery>(db, call, author, () =>
      redeliverSince(db, id, since, author.now, status),
    ),
  )
}

const redelivered = (count: number | undefined): Redelivery | undefined =>
  count === undefined ? undefined : { outcome: 'redelivered', redelivered: count }

function redeliveryOf(done: number | undefined | Repeated<Redelivery>): Redelivery | NotDone {
  if (typeof done !== 'object') return redelivered(done) ?? { outcome: 'not_found' }
  return done.outcome === 'replayed' ? done.answer : done
}
