/** Administrators' changes of webhooks. They outlive the webhook, and hold no secret. */
import type { EpochMs } from '../../domain/time.ts'
import type { WebhookAction } from '../../domain/webhook.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { type Slice, sliceOf } from '../connection/slice.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
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

/** Records a change, under the lock of the webhook's row or in the transaction that creates it: that numbers the changes. */
export async function insertWebhookChange(
  tx: Transaction,
  webhookId: number,
  change: Omit<RecordedWebhookChange, 'version'>,
): Promise<void> {
  const { action, at, actor, request_id, before, after } = change
  await tx.query({
    text: sql`insert into webhook_change (shard, webhook_id, version, action, at, actor, request_id, before, after)
           select $1, $2, coalesce(max(version), 0) + 1, $3, $4, $5, $6, $7, $8
           from webhook_change where shard = $1 and webhook_id = $2`,
    values: [
      shardOfWebhook(webhookId),
      webhookId,
      action,
      timestampParam(at),
      actor,
      request_id,
      before && JSON.stringify(before),
      after && JSON.stringify(after),
    ],
  })
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
