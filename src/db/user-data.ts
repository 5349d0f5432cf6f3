/** Everything of one user, in pages, for an export. What lists of quotas and reservations read is not repeated here. */
import type { DenialKey } from '../domain/denial.ts'
import type { ExplanationView } from '../domain/explanation.ts'
import type { Quota } from '../domain/quota.ts'
import { shardOf } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Database, SqlValue } from './database.ts'
import type { LoggedDenial } from './denials.ts'
import { DENIAL_COLUMNS } from './ledger/add-denials.ts'
import type { StoredEvent } from './outbox.ts'
import { IN_INDEX_ORDER } from './planner-settings.ts'
import { QUOTA_COLUMNS } from './quotas.ts'
import { joinSql, type Sql, sql, sqlName } from './sql.ts'
import { UNFUNDED_OF_GRANTS, USAGE_COUNTS, type UsageSums } from './usage-columns.ts'
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
    sql`select ${QUOTA_COLUMNS} from quota
     where shard = $1 and user_id = $2 and deleted_at is ${state === 'deleted' ? sql`not null` : sql`null`} and id > $3
     order by id limit $4`,
    [shardOf(userId), userId, after, size],
  )
}

/** Usage by its age: `usage` has quarters of an hour, the others days and months. */
export type UsageTable = 'usage' | 'usage_day' | 'usage_month'

/** What a user sent, gave back and was denied in a quarter of an hour, a day or a month from `bucket` on. */
export interface StoredUsage extends UsageSums {
  bucket: EpochMs
  quota_id: number | null
  country: string | null
  message_type: string | null
}

const USAGE_COLUMNS = sql`bucket, quota_id, country, message_type, ${UNFUNDED_OF_GRANTS},
  ${joinSql(USAGE_COUNTS.map(sqlName).map(name => sql`coalesce(${name}, 0) as ${name}`))}`

/** The user's usage that begins behind `after`: all of the last `bucket`, so it may be more than `size`. */
export function usageAfter(
  db: Database,
  table: UsageTable,
  userId: number,
  after: EpochMs,
  size: number,
): Promise<StoredUsage[]> {
  return read(
    db,
    sql`select ${USAGE_COLUMNS} from ${sqlName(table)} where shard = $1 and user_id = $2 and bucket > $3
     order by bucket fetch first $4 rows with ties`,
    [shardOf(userId), userId, timestampParam(after), size],
  )
}

/** The place of usage in the order in which that of all users is read. */
export interface UsageKey {
  user_id: number
  bucket: EpochMs
}

/** Usage of all users behind a key, by shard, user and time: all of the last `bucket`, so it may be more than `size`. */
export function usageOfAllAfter(
  db: Database,
  table: UsageTable,
  after: UsageKey | undefined,
  size: number,
): Promise<(StoredUsage & UsageKey)[]> {
  const { user_id: userId, bucket } = after ?? { user_id: -1, bucket: Number.NEGATIVE_INFINITY }
  return read(
    db,
    sql`select user_id, ${USAGE_COLUMNS} from ${sqlName(table)} where (shard, user_id, bucket) > ($1, $2, $3)
     order by shard, user_id, bucket fetch first $4 rows with ties`,
    [after === undefined ? 0 : shardOf(userId), userId, timestampParam(bucket), size],
  )
}

const DENIAL_FIELDS = joinSql([sql`at`, sql`number`, ...DENIAL_COLUMNS, sql`explanation`])

/** The user's logged denials behind `after`, oldest first, each with its explanation as it was logged. */
export function denialsAfter(
  db: Database,
  userId: number,
  after: Pick<DenialKey, 'at' | 'number'>,
  size: number,
): Promise<(LoggedDenial & { explanation: ExplanationView[] })[]> {
  return read(
    db,
    sql`select ${DENIAL_FIELDS} from denial where shard = $1 and user_id = $2 and (at, number) > ($3, $4)
     order by at, number limit $5`,
    [shardOf(userId), userId, timestampParam(after.at), after.number, size],
  )
}

/** The user's events whose sequence is above `after`, by sequence. */
export function eventsAfter(db: Database, userId: number, after: number, size: number): Promise<StoredEvent[]> {
  return read(
    db,
    sql`select shard, number, type, at, user_id, sequence, data from event
     where shard = $1 and user_id = $2 and sequence > $3 order by sequence limit $4`,
    [shardOf(userId), userId, after, size],
  )
}

function read<Row extends object>(db: Database, text: Sql, values: SqlValue[]): Promise<Row[]> {
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    return tx.query<Row>({ text, values })
  }, 'snapshot')
}
