/** The addresses of users, as messages about their own events need them. `src/db/users/addresses.ts` sets them. */
import { shardOf } from '../../domain/basics/shard.ts'
import { CLOCK_MARGIN_MS, type EpochMs, MINUTE_MS } from '../../domain/time/time.ts'
import type { UserAddress } from '../../domain/users/user-address.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Database, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'

/** Where a message to a user goes. */
export type Recipient = Pick<UserAddress, 'user_id' | 'language' | 'serial'> & { address: string }

/** The time from one message to a user to the next: what happens meanwhile comes together. */
const BETWEEN_MESSAGES_MS = MINUTE_MS

/** SQL: an address `a` gets messages. */
export const GETS_MESSAGES = sql`a.address is not null and a.confirmed_at is not null and a.refused_at is null`

/** A user who gets messages. */
export interface Turn {
  recipient: Recipient
  /** Messages are about events from then on; about all if a clock was ahead that says so. */
  confirmed_at: EpochMs
  /** When the next message may go out; null: now. */
  next_at: EpochMs | null
}

/**
 * Takes the turn of each of these users who may get a message now. Users who are missing get none: they have no address. Any number of
 * processes may do that at once.
 */
export async function takeTurns(tx: Transaction, userIds: readonly number[], now: EpochMs): Promise<Map<number, Turn>> {
  const users = userIds.toSorted((one, other) => one - other)
  const rows = await runPerCitusShard(tx, users, shardOf, part =>
    tx.query<Recipient & { confirmed_at: EpochMs; messaged_at: EpochMs | null }>({
      name: 'lock-addresses',
      text: sql`select user_id, address, language, serial, confirmed_at, messaged_at from user_address a
             where (shard, user_id) in (select * from unnest($1::smallint[], $2::bigint[])) and ${GETS_MESSAGES}
               ${shardFilter(tx, sql`shard`, sql`$1`)}
             order by user_id for update`,
      values: [part.map(shardOf), part],
    }),
  )
  const turns = rows.map(({ messaged_at: last, confirmed_at, ...recipient }): Turn => {
    const mustWait = last !== null && last <= now + CLOCK_MARGIN_MS && now - last < BETWEEN_MESSAGES_MS
    return { recipient, confirmed_at, next_at: mustWait ? last + BETWEEN_MESSAGES_MS : null }
  })
  const taken = turns.flatMap(({ recipient, next_at }) => (next_at === null ? [recipient.user_id] : []))
  await runPerCitusShard(tx, taken, shardOf, part =>
    tx.query({
      name: 'count-messages',
      text: sql`update user_address set messaged_at = $3
             where (shard, user_id) in (select * from unnest($1::smallint[], $2::bigint[])) ${shardFilter(tx, sql`shard`, sql`$1`)}`,
      values: [part.map(shardOf), part, timestampParam(now)],
    }),
  )
  return new Map(turns.map(turn => [turn.recipient.user_id, turn]))
}

/** Marks an address that the mail server has refused for good, unless another one has replaced it. */
export async function markRefused(
  db: Database,
  { user_id, serial }: Pick<Recipient, 'user_id' | 'serial'>,
  now: EpochMs,
): Promise<void> {
  await db.query({
    text: sql`update user_address set refused_at = $4 where shard = $1 and user_id = $2 and serial = $3 and refused_at is null`,
    values: [shardOf(user_id), user_id, serial, timestampParam(now)],
  })
}
