/** Administrators' changes of webhooks. They outlive the webhook, and hold no secret. */
import type { EpochMs } from '../../domain/time.ts'
import type { WebhookAction } from '../../domain/webhook.ts'
import type { Database } from '../connection/database.ts'
import { type Slice, sliceOf } from '../connection/slice.ts'
import { sql } from '../connection/sql.ts'
import { findWebhook, shardOfWebhook } from './webhooks.ts'

export interface RecordedWebhookChange {
  /** Numbers the changes of a webhook, from 1. */
  version: number
  action: WebhookAction
  at: EpochMs
  actor: string
  /** Null: the service made the change by itself. */
  request_id: string | null
  /** The webhook as the API showed it; null before its creation. */
  before: object | null
  /** Null after its deletion. */
  after: object | null
}

/** Changes before a version, newest first; undefined if there is no such webhook and none of its changes is kept. */
export async function changesOfWebhook(
  db: Database,
  webhookId: number,
  before: number,
  size: number,
): Promise<Slice<RecordedWebhookChange> | undefined> {
  const changes = await db.query<RecordedWebhookChange>({
    text: sql`select version, action, at, actor, request_id, before, after from webhook_change
           where shard = $1 and webhook_id = $2 and version < $3 order by version desc limit $4`,
    values: [shardOfWebhook(webhookId), webhookId, before, size + 1],
  })
  // A webhook of version 0.1.0 has no changes before its first one under this version.
  if (changes.length === 0 && (await findWebhook(db, webhookId)) === undefined) return undefined
  return sliceOf(changes, size)
}
