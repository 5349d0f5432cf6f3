/** Rows of webhooks. Deleted ones stay until their deliveries are removed (`webhook-upkeep.ts`), and are not seen here. */
import { quotaIdOf, SHARD_COUNT, shardFrom, shardOfQuota } from '../../domain/basics/shard.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import type { Webhook } from '../../domain/webhooks/webhook.ts'
import type { Queryable, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { readOutboxEnds } from '../outbox/outbox.ts'

/** All but the secrets, which are in `webhook-secrets.ts`. */
export const WEBHOOK_COLUMNS = sql`id, kind, nullif(url, '') as url, addresses, language, user_ids, types, only_when_low, digest, description,
  enabled or sends as enabled, disabled_reason, failing_since, previous_until, created_at, created_by, updated_at, updated_by`

/** SQL: a webhook `w` is enabled. A planner takes this for half of them, as it takes a column; with `or`, for most, and it reads all that is due. */
export const IS_ENABLED = sql`case when w.enabled then true else w.sends end`

/**
 * Versions that know no kinds would post events to people, and events to a webhook that takes only those of some users, or when little is left. They
 * take such a webhook for disabled: it has `sends` in place of `enabled`.
 */
function storedState({ kind, user_ids, only_when_low, enabled }: Webhook) {
  const isNew = kind !== 'webhook' || user_ids !== null || only_when_low !== null
  return { enabled: enabled && !isNew, sends: enabled && isNew }
}

/** A webhook's id names its shard as a quota's id does. */
export const shardOfWebhook = shardOfQuota

/** All webhooks, the oldest first; there are `MAX_WEBHOOKS` at most. */
export function listWebhooks(db: Queryable): Promise<Webhook[]> {
  return db.query<Webhook>({
    text: sql`select ${WEBHOOK_COLUMNS} from webhook where deleted_at is null order by created_at, id`,
  })
}

/** Whether an enabled webhook sends users messages about their own events. */
export async function sendsToUsers(db: Queryable): Promise<boolean> {
  const found = await db.query({
    name: 'webhook-of-users',
    text: sql`select 1 from webhook w where kind = 'users' and deleted_at is null and ${IS_ENABLED} limit 1`,
  })
  return found.length > 0
}

export async function findWebhook(db: Queryable, id: number): Promise<Webhook | undefined> {
  const [webhook] = await db.query<Webhook>({
    name: 'webhook-find',
    text: sql`select ${WEBHOOK_COLUMNS} from webhook where shard = $1 and id = $2 and deleted_at is null`,
    values: [shardOfWebhook(id), id],
  })
  return webhook
}

export async function lockWebhook(tx: Transaction, id: number): Promise<Webhook | undefined> {
  const [webhook] = await tx.query<Webhook>({
    text: sql`select ${WEBHOOK_COLUMNS} from webhook where shard = $1 and id = $2 and deleted_at is null for update`,
    values: [shardOfWebhook(id), id],
  })
  return webhook
}

/** An id for a webhook to be created, and how many webhooks there are. */
export async function nextWebhookId(tx: Transaction): Promise<{ id: number; present: number }> {
  const [next] = await tx.query<{ number: number }>({ text: sql`select nextval('webhook_number') as number` })
  const [all] = await tx.query<{ present: number }>({
    text: sql`select count(*) as present from webhook where deleted_at is null`,
  })
  if (next === undefined || all === undefined) throw new Error('the database returned no row')
  return { id: quotaIdOf(next.number, shardFrom(next.number % SHARD_COUNT)), present: all.present }
}

/**
 * Inserts a webhook that receives the events committed from now on: it begins at the ends that `tx` sees. Its secret is
 * written next (`writeSecrets`).
 */
export async function insertWebhook(tx: Transaction, webhook: Webhook): Promise<void> {
  const shard = shardOfWebhook(webhook.id)
  const { id, kind, url, addresses, language, user_ids, types, only_when_low, digest, description } = webhook
  const { created_at, created_by } = webhook
  const { enabled, sends } = storedState(webhook)
  await tx.query({
    text: sql`insert into webhook (shard, id, kind, url, addresses, language, user_ids, types, description, enabled, sends, secret,
             created_at, created_by, updated_at, updated_by, only_when_low, digest)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '', $12, $13, $12, $13, $14, $15)`,
    values: [
      shard,
      id,
      kind,
      url ?? '',
      addresses,
      language,
      user_ids,
      types,
      description,
      enabled,
      sends,
      timestampParam(created_at),
      created_by,
      only_when_low && JSON.stringify(only_when_low),
      digest && JSON.stringify(digest),
    ],
  })
  await tx.query({
    text: sql`insert into webhook_cursor (shard, webhook_id, positions) values ($1, $2, $3)`,
    values: [shard, id, await readOutboxEnds(tx)],
  })
}

/** Writes every column of a webhook that may change, but the secrets. */
export async function replaceWebhook(tx: Transaction, webhook: Webhook): Promise<void> {
  const { id, url, addresses, language, user_ids, types, only_when_low, digest, description } = webhook
  const { disabled_reason, failing_since, updated_at, updated_by } = webhook
  const { enabled, sends } = storedState(webhook)
  await tx.query({
    text: sql`update webhook set url = $3, addresses = $4, language = $5, user_ids = $6, types = $7, description = $8,
             enabled = $9, sends = $10, disabled_reason = $11, failing_since = $12, updated_at = $13, updated_by = $14,
             only_when_low = $15, digest = $16
           where shard = $1 and id = $2`,
    values: [
      shardOfWebhook(id),
      id,
      url ?? '',
      addresses,
      language,
      user_ids,
      types,
      description,
      enabled,
      sends,
      disabled_reason,
      timestampParam(failing_since),
      timestampParam(updated_at),
      updated_by,
      only_when_low && JSON.stringify(only_when_low),
      digest && JSON.stringify(digest),
    ],
  })
}

/**
 * Marks a webhook as deleted, and removes its secrets at once. For its deliveries, however many, this is a mark: they are
 * removed later, in pages. The webhook is locked.
 */
export async function markDeleted(tx: Transaction, id: number, now: EpochMs): Promise<void> {
  await tx.query({
    text: sql`update webhook set deleted_at = $3, enabled = false, sends = false, secret = '', previous_secret = null, previous_until = null
           where shard = $1 and id = $2`,
    values: [shardOfWebhook(id), id, timestampParam(now)],
  })
}

/**
 * Makes the commit of a transaction that found no webhook wait until a synchronous standby has what was committed before
 * it. An earlier deletion may not have reached the standby, and only a transaction that writes waits.
 */
export async function confirmAbsence(tx: Transaction): Promise<void> {
  await tx.query({ text: sql`select pg_logical_emit_message(true, 'sms-quota', 'no such webhook')` })
}

/** Notes since when every attempt at the webhook has failed; null: the last one did not. */
export async function setFailingSince(tx: Transaction, id: number, since: EpochMs | null): Promise<void> {
  await tx.query({
    text: sql`update webhook set failing_since = $3 where shard = $1 and id = $2 and deleted_at is null`,
    values: [shardOfWebhook(id), id, timestampParam(since)],
  })
}
