import { formatTimestamp } from '../../domain/time.ts'
import { type UsageEntry, usageBucketOf } from '../../domain/usage.ts'
import { bigints, ints, smallints, texts } from './arrays.ts'
import { USER_SHARD } from './keys.ts'
import { nextNumber } from './numbers.ts'
import { ledgerStatement, type Scalar } from './statement.ts'

/** The codes of `usage_pending.kinds`. 2 is a denial without a reason, which earlier versions wrote. */
const KINDS = { committed: 0, refunded: 1, no_quota: 3, cap_reached: 4, quota_exhausted: 5 }

const BUCKET: Scalar = (_, now) => formatTimestamp(usageBucketOf(now))
const NUMBER: Scalar = () => String(nextNumber())

const VALUES = {
  users: bigints<UsageEntry>(entry => entry.user_id),
  quotas: bigints<UsageEntry>(entry => entry.quota_id),
  countries: texts<UsageEntry>(entry => entry.country),
  message_types: texts<UsageEntry>(entry => entry.message_type),
  kinds: smallints<UsageEntry>(entry => KINDS[entry.kind]),
  units: bigints<UsageEntry>(entry => entry.units),
  messages: ints<UsageEntry>(entry => entry.messages),
}

const NAMES = Object.keys(VALUES)

/**
 * Adds a batch's usage as a row of arrays per shard, which the usage rollup sums up later. The rows are the batch's own: it
 * waits for no lock, and no other transaction waits for them.
 */
export const addUsage = ledgerStatement<UsageEntry>(
  'add-usage',
  { ...USER_SHARD, ...VALUES },
  ({ k, bind }) => `insert into usage_pending (shard, number, ${NAMES.join(', ')}, bucket)
    select k.shard, ${bind(NUMBER)}::bigint, ${NAMES.map(name => `array_agg(k.${name})`).join(', ')},
      ${bind(BUCKET)}::timestamptz
    from ${k} group by k.shard`,
)
