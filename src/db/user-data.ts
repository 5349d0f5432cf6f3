/** Everything of one user, in pages, for an export. What lists of quotas and reservations read is not repeated here. */
import type { Quota } from '../domain/quota.ts'
import { shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database, SqlValue } from './database.ts'
import type { StoredEvent } from './outbox.ts'
import { IN_INDEX_ORDER } from './planner-settings.ts'
import { QUOTA_COLUMNS } from './quotas.ts'
import { timestampParam } from './values.ts'

/** The user's quotas whose id is above `after`, by id: the undeleted ones or the deleted ones. */
export function quotasAfter(
  db: Database,
  userId: number,
  after: number,
  state: 'undeleted' | 'deleted',
  size: number,
): Promise<Quota[]> {
  return read(
    db,
    `select ${QUOTA_COLUMNS} from quota
     where shard = $1 and user_id = $2 and deleted_at is ${state === 'deleted' ? 'not null' : 'null'} and id > $3
     order by id limit $4`,
    [shardOf(userId), userId, after, size],
  )
}

/** What a user sent, gave back and was denied in a quarter of an hour. */
export interface UsageOfQuarter {
  bucket: EpochMs
  quota_id: number | null
  country: string | null
  message_type: string | null
  committed: number
  committed_messages: number
  refunded: number
  refunded_messages: number
  denied: number
  denied_messages: number
}

/** The user's usage of the quarters of an hour behind `after`: whole quarters, so it may be more than `size`. */
export function usageAfter(db: Database, userId: number, after: EpochMs, size: number): Promise<UsageOfQuarter[]> {
  return read(
    db,
    `select bucket, quota_id, country, message_type, committed, committed_messages, refunded, refunded_messages,
       denied, denied_messages
     from usage where shard = $1 and user_id = $2 and bucket > $3 order by bucket fetch first $4 rows with ties`,
    [shardOf(userId), userId, timestampParam(after), size],
  )
}

/** The user's events whose sequence is above `after`, by sequence. */
export function eventsAfter(db: Database, userId: number, after: number, size: number): Promise<StoredEvent[]> {
  return read(
    db,
    `select shard, number, type, at, user_id, sequence, data from event
     where shard = $1 and user_id = $2 and sequence > $3 order by sequence limit $4`,
    [shardOf(userId), userId, after, size],
  )
}

function read<Row extends object>(db: Database, text: string, values: SqlValue[]): Promise<Row[]> {
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    return tx.query<Row>({ text, values })
  }, 'snapshot')
}
