import { formatTimestamp } from '../../domain/time.ts'
import { type UsageEntry, usageBucketOf } from '../../domain/usage.ts'
import { bigints, ints, smallints, texts } from './arrays.ts'
import { ledgerStatement, type Scalar } from './statement.ts'

/** The codes of `usage_pending.kinds`. */
const KINDS = { committed: 0, refunded: 1, denied: 2 }

const BUCKET: Scalar = (_, now) => formatTimestamp(usageBucketOf(now))

/**
 * Adds a batch's usage as one row of arrays, which the usage rollup sums up later. The row is the batch's own: it waits
 * for no lock, and no other transaction waits for it.
 */
export const addUsage = ledgerStatement<UsageEntry>(
  'add-usage',
  {
    users: bigints(entry => entry.user_id),
    quotas: bigints(entry => entry.quota_id),
    countries: texts(entry => entry.country),
    message_types: texts(entry => entry.message_type),
    kinds: smallints(entry => KINDS[entry.kind]),
    units: bigints(entry => entry.units),
    messages: ints(entry => entry.messages),
  },
  ({ shard, names, arrays, bind }) => `insert into usage_pending (shard, number, ${names}, bucket)
    values (${shard}, nextval('usage_number'), ${arrays}, ${bind(BUCKET)})`,
)
