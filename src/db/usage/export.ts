/**
 * Usage as an export reads it, whole and each of it once, though compaction moves it from table to table meanwhile.
 *
 * No snapshot is held for the length of an export. Instead, what compaction may move while one runs is read of each user in
 * one short snapshot, from all three tables; what is too recent for that is read in pages.
 */
import { USAGE_DETAIL_DAYS } from '../../domain/basics/bounds.ts'
import { SHARDS, type Shard, shardOf } from '../../domain/basics/shard.ts'
import { DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import type { Database } from '../connection/database.ts'
import { joinSql, sql, sqlName, sqlText } from '../connection/sql.ts'
import { BY_KEYS, IN_INDEX_ORDER } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { UNFUNDED_OF_GRANTS, USAGE_COUNTS, type UsageSums } from './columns.ts'
import { usersFrom } from './maintenance.ts'

/** Usage by its age: `usage` has quarters of an hour, the others days and months. */
const TABLES = ['usage', 'usage_day', 'usage_month'] as const
type UsageTable = (typeof TABLES)[number]

/** The units that a user sent, gave back and was denied in a quarter of an hour, a day or a month from `bucket` on. */
export interface StoredUsage extends UsageSums {
  table: UsageTable
  user_id: number
  bucket: EpochMs
  quota_id: number | null
  country: string | null
  message_type: string | null
}

/**
 * The longest time that an export may run. Compaction moves nothing in that time that is this much younger than what it
 * moves now.
 */
const LONGEST_EXPORT_MS = 3 * DAY_MS

/** Users of which the past is read in one snapshot: what an export holds in memory. */
const USERS = 20

const COLUMNS = sql`u.user_id, u.bucket, u.quota_id, u.country, u.message_type, ${UNFUNDED_OF_GRANTS},
  ${joinSql(USAGE_COUNTS.map(sqlName).map(name => sql`coalesce(u.${name}, 0) as ${name}`))}`

/** The usage of a user, or of all users, by shard and user: of each, or of a few, what is old, and then what is recent. */
export async function* exportUsage(
  db: Database,
  userId: number | undefined,
  now: EpochMs,
  size: number,
): AsyncGenerator<StoredUsage[], void> {
  const recent = now - USAGE_DETAIL_DAYS * DAY_MS + LONGEST_EXPORT_MS
  const users = userId === undefined ? usersWithUsage(db) : [{ shard: shardOf(userId), userIds: [userId] }]
  for await (const { shard, userIds } of users) {
    for (const rows of await pastUsageOf(db, shard, userIds, recent)) if (rows.length > 0) yield rows
    let after = { user_id: userIds[0] ?? 0, bucket: recent - 1 }
    const last = userIds.at(-1) ?? 0
    for (;;) {
      const rows = await recentUsage(db, shard, after, last, recent, size)
      if (rows.length > 0) yield rows
      if (rows.length < size) break
      after = rows.at(-1) ?? after
    }
  }
}

/** All users with usage, a few of a shard at a time, ascending. */
async function* usersWithUsage(db: Database): AsyncGenerator<{ shard: Shard; userIds: number[] }, void> {
  for (const shard of SHARDS) {
    for (let from: number | null = 0; from !== null; ) {
      const first: number = from
      const pages = await db.transaction(async tx => {
        await tx.query({ text: BY_KEYS })
        const found = []
        for (const table of TABLES) found.push(await usersFrom(tx, shard, table, first))
        return found
      }, 'snapshot')
      // Up to where all three tables were read.
      const until = Math.min(
        ...pages.map(({ users, isLast }) => (isLast ? Number.POSITIVE_INFINITY : (users.at(-1) ?? 0))),
      )
      const users = [...new Set(pages.flatMap(page => page.users))].filter(user => user <= until).sort((a, b) => a - b)
      for (let at = 0; at < users.length; at += USERS) yield { shard, userIds: users.slice(at, at + USERS) }
      from = until === Number.POSITIVE_INFINITY ? null : until + 1
    }
  }
}

/** Reads the old usage of some users of a shard, by table: rows before `recent` and those that were compacted. */
export function pastUsageOf(
  db: Database,
  shard: Shard,
  userIds: readonly number[],
  recent: EpochMs,
): Promise<StoredUsage[][]> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const tables: StoredUsage[][] = []
    for (const table of TABLES) {
      tables.push(
        await tx.query<StoredUsage>({
          text: sql`select ${sqlText(table)} as table, ${COLUMNS} from unnest($2::bigint[]) with ordinality k (user_id, place), lateral (
              select * from ${sqlName(table)} r where r.shard = $1 and r.user_id = k.user_id and r.bucket < $3
            ) u order by k.place, u.bucket`,
          values: [shard, userIds, timestampParam(table === 'usage' ? recent : Number.POSITIVE_INFINITY)],
        }),
      )
    }
    return tables
  }, 'snapshot')
}

/**
 * Reads the recent usage of a shard's users up to `last`, behind `after`: all of the last `bucket`, so it may be more
 * than `size`.
 */
export function recentUsage(
  db: Database,
  shard: Shard,
  after: Pick<StoredUsage, 'user_id' | 'bucket'>,
  last: number,
  recent: EpochMs,
  size: number,
): Promise<StoredUsage[]> {
  return db.transaction(async tx => {
    await tx.query({ text: IN_INDEX_ORDER })
    return tx.query<StoredUsage>({
      text: sql`select 'usage' as table, ${COLUMNS} from usage u
        where u.shard = $1 and (u.user_id, u.bucket) > ($2, $3) and u.user_id <= $4 and u.bucket >= $5
        order by u.user_id, u.bucket fetch first $6 rows with ties`,
      values: [shard, after.user_id, timestampParam(after.bucket), last, timestampParam(recent), size],
    })
  }, 'snapshot')
}
