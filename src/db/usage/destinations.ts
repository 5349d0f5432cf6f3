/** Usage as the breaker judges it: by destination, a user and a country. */
import type { Shard } from '../../domain/shard.ts'
import type { EpochMs } from '../../domain/time.ts'
import type { Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { usersFrom } from './maintenance.ts'

/** Messages of one type in whole quarters of an hour, `to` excluded. */
export interface DestinationFilter {
  message_type: string
  from: EpochMs
  to: EpochMs
}

/** Messages to a destination in a quarter of an hour. A refunded one was sent: an attack that is refunded later was one. */
export interface DestinationUsage {
  country: string
  bucket: EpochMs
  sent: number
  verified: number
}

const SENT = sql`sum(committed_messages)::bigint`

/**
 * The next users of a shard from `from` on, and those of them with a destination to which more than `least` messages were sent. Without
 * feedback since `feedbackSince` a user is not among them.
 */
export async function readSuspects(
  tx: Transaction,
  shard: Shard,
  from: number,
  filter: DestinationFilter & { least: number; feedbackSince: EpochMs },
): Promise<{ users: number; suspects: number[]; next: number | null }> {
  await tx.query({ text: BY_KEYS })
  const { users, isLast } = await usersFrom(tx, shard, 'usage', from)
  const last = users.at(-1)
  if (last === undefined) return { users: 0, suspects: [], next: null }
  const found = await tx.query<{ user_id: number }>({
    name: 'breaker-replay-suspects',
    text: sql`select user_id from (
        select user_id, ${SENT} as sent, sum(verified_messages) filter (where bucket >= $7) as verified
        from usage
        where shard = $1 and user_id = any($2::bigint[]) and message_type = $3 and country is not null
          and bucket >= $4 and bucket < $5
        group by user_id, country
      ) d
      group by user_id having sum(verified) > 0 and max(sent) > $6::bigint order by user_id`,
    values: [
      shard,
      users,
      filter.message_type,
      timestampParam(filter.from),
      timestampParam(filter.to),
      filter.least,
      timestampParam(filter.feedbackSince),
    ],
  })
  return { users: users.length, suspects: found.map(({ user_id }) => user_id), next: isLast ? null : last + 1 }
}

/** The usage of a user by country and quarter of an hour, in this order. */
export function readDestinations(
  tx: Transaction,
  shard: Shard,
  userId: number,
  { message_type, from, to }: DestinationFilter,
): Promise<DestinationUsage[]> {
  return tx.query<DestinationUsage>({
    name: 'breaker-destinations',
    text: sql`select country, bucket, ${SENT} as sent, coalesce(sum(verified_messages), 0)::bigint as verified
      from usage
      where shard = $1 and user_id = $2 and message_type = $3 and country is not null and bucket >= $4 and bucket < $5
      group by country, bucket order by country, bucket`,
    values: [shard, userId, message_type, timestampParam(from), timestampParam(to)],
  })
}
