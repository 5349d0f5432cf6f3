/** Usage as the breaker judges it: by destination, a user and a country. */
import type { Shard } from '../../domain/shard.ts'
import type { EpochMs } from '../../domain/time.ts'
import type { Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'

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

/** The usage of a user by country and quarter of an hour, in this order. */
export function readDestinations(
  tx: Transaction,
  shard: Shard,
  userId: number,
  { message_type, from, to }: DestinationFilter,
): Promise<DestinationUsage[]> {
  return tx.query<DestinationUsage>({
    name: 'breaker-destinations',
    text: sql`select country, bucket, sum(committed_messages)::bigint as sent, coalesce(sum(verified_messages), 0)::bigint as verified
      from usage
      where shard = $1 and user_id = $2 and message_type = $3 and country is not null and bucket >= $4 and bucket < $5
      group by country, bucket order by country, bucket`,
    values: [shard, userId, message_type, timestampParam(from), timestampParam(to)],
  })
}
