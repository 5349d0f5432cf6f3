import { SHARD_COUNT } from '../../domain/basics/shard.ts'
import { type EpochMs, formatTimestamp } from '../../domain/time/time.ts'
import { type UsageEntry, usageBucketOf } from '../../domain/units/usage.ts'
import type { Transaction } from '../connection/database.ts'
import { joinSql, sql, sqlInteger, sqlName } from '../connection/sql.ts'
import { bigints, ints, smallints, texts, timestamps, usuallyNull } from './arrays.ts'
import { nextNumber, USER_SHARD } from './keys.ts'
import { ledgerStatement, NOW, type Scalar } from './statement.ts'

/** Usage as it is stored: with the id of the sender in the dictionary of principals; null if it is not there. */
export type BookedUsage = Omit<UsageEntry, 'sender'> & { sender: number | null }

/** The codes of `usage_pending.kinds`. 2 is a denial without a reason, which earlier versions wrote. */
export const USAGE_KIND_CODES = {
  committed: 0,
  refunded: 1,
  no_quota: 3,
  cap_reached: 4,
  quota_exhausted: 5,
  destination_paused: 6,
  verified: 7,
  segments: 8,
}

const BUCKET: Scalar = (_, now) => formatTimestamp(usageBucketOf(now))
const NUMBER: Scalar = () => String(nextNumber())

const VALUES = {
  users: bigints<BookedUsage>(entry => entry.user_id),
  quotas: bigints<BookedUsage>(entry => entry.quota_id),
  countries: texts<BookedUsage>(entry => entry.country),
  message_types: texts<BookedUsage>(entry => entry.message_type),
  kinds: smallints<BookedUsage>(entry => USAGE_KIND_CODES[entry.kind]),
  units: bigints<BookedUsage>(entry => entry.units),
  messages: ints<BookedUsage>(entry => entry.messages),
  senders: ints<BookedUsage>(entry => entry.sender),
  sent_at: usuallyNull<BookedUsage, EpochMs>(timestamps, entry => entry.sent_at),
}

const NAMES = Object.keys(VALUES).map(sqlName)

/** The `shard` of a row of all shards: the one behind the last. */
export const OF_ALL_SHARDS = SHARD_COUNT

/**
 * Adds a batch's usage as one row of arrays, which the usage rollup sums up later. The row is the batch's own: it waits for
 * no lock, and no other transaction waits for it. PostgreSQL stores the arrays as it gets them.
 */
export const addUsage = ledgerStatement<BookedUsage>(
  'add-usage',
  { ...USER_SHARD, ...VALUES },
  ({ arrays, bind }) => sql`insert into usage_pending (shards, ${joinSql(NAMES)}, shard, number, bucket, at)
    values (${arrays}, ${sqlInteger(OF_ALL_SHARDS)}, ${bind(NUMBER)}::bigint, ${bind(BUCKET)}::timestamptz, ${bind(NOW)}::timestamptz)`,
)

/** The same on a cluster, where a row lies with the other rows of its shard: a row of arrays for each shard. */
export const addUsageOfShards = ledgerStatement<BookedUsage>(
  addUsage.name,
  { ...USER_SHARD, ...VALUES },
  ({ k, bind }) => sql`insert into usage_pending (shard, number, ${joinSql(NAMES)}, bucket, at)
    select k.shard, ${bind(NUMBER)}::bigint, ${joinSql(NAMES.map(name => sql`array_agg(k.${name})`))},
      ${bind(BUCKET)}::timestamptz, ${bind(NOW)}::timestamptz
    from ${k} group by k.shard`,
)

/**
 * Makes batches of one shard of the first ones of all shards. So what cannot be added up is kept to its shard, and so are batches from
 * before the tables were distributed over a cluster.
 *
 * @param batches how many at most; null: all
 */
export async function splitUsage(tx: Transaction, batches: number | null): Promise<void> {
  const columns = joinSql(NAMES)
  await tx.query({
    text: sql`with page as materialized (
        select number from usage_pending where shard = $1 order by number limit $2 for update skip locked
      ), taken as (
        delete from usage_pending p using page where p.shard = $1 and p.number = page.number returning p.*
      )
      insert into usage_pending (shard, number, bucket, at, ${columns})
      select e.shard, taken.number, taken.bucket, taken.at, ${joinSql(NAMES.map(name => sql`array_agg(e.${name})`))}
      from taken, unnest(taken.shards, ${joinSql(NAMES.map(name => sql`taken.${name}`))}) e (shard, ${columns})
      group by 1, 2, 3, 4`,
    values: [OF_ALL_SHARDS, batches],
  })
}
