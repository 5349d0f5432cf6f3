import { formatTimestamp } from '../../domain/time.ts'
import { type UsageEntry, usageBucketOf } from '../../domain/usage.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { bigints, ints, smallints, texts } from './arrays.ts'
import { nextNumber, USER_SHARD } from './keys.ts'
import { ledgerStatement, type Scalar } from './statement.ts'

/** Usage as it is stored: with the id of the sender in the dictionary of principals; null if it is not there. */
export type BookedUsage = Omit<UsageEntry, 'sender'> & { sender: number | null }

/** The codes of `usage_pending.kinds`. 2 is a denial without a reason, which earlier versions wrote. */
export const USAGE_KIND_CODES = { committed: 0, refunded: 1, no_quota: 3, cap_reached: 4, quota_exhausted: 5 }

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
}

const NAMES = Object.keys(VALUES).map(sqlName)

/**
 * Adds a batch's usage as a row of arrays per shard, which the usage rollup sums up later. The rows are the batch's own: it
 * waits for no lock, and no other transaction waits for them.
 */
export const addUsage = ledgerStatement<BookedUsage>(
  'add-usage',
  { ...USER_SHARD, ...VALUES },
  ({ k, bind }) => sql`insert into usage_pending (shard, number, ${joinSql(NAMES)}, bucket)
    select k.shard, ${bind(NUMBER)}::bigint, ${joinSql(NAMES.map(name => sql`array_agg(k.${name})`))},
      ${bind(BUCKET)}::timestamptz
    from ${k} group by k.shard`,
)
