/** Where users have messages about their own events sent to, and who changed that. */
import { type Shard, shardOf } from '../../domain/basics/shard.ts'
import { CLOCK_MARGIN_MS, type EpochMs, HOUR_MS, removalTime } from '../../domain/time/time.ts'
import { MAX_LINKS_PER_HOUR, type UserAddress } from '../../domain/users/user-address.ts'
import type { Queryable, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'

const COLUMNS = sql`user_id, address, language, serial, expires_at, confirmed_at, refused_at, version`

export async function findAddress(db: Queryable, userId: number): Promise<UserAddress | undefined> {
  const [address] = await db.query<UserAddress>({
    name: 'find-address',
    text: sql`select ${COLUMNS} from user_address where shard = $1 and user_id = $2`,
    values: [shardOf(userId), userId],
  })
  return address
}

/** Writes an address that has changed. The account is locked. */
export async function writeAddress(tx: Transaction, address: UserAddress): Promise<void> {
  const { user_id, language, serial, expires_at, confirmed_at, refused_at, version } = address
  await tx.query({
    text: sql`insert into user_address (shard, ${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           on conflict (shard, user_id) do update set address = $3, language = $4, serial = $5, expires_at = $6,
             confirmed_at = $7, refused_at = $8, version = $9`,
    values: [
      shardOf(user_id),
      user_id,
      address.address,
      language,
      serial,
      timestampParam(expires_at),
      timestampParam(confirmed_at),
      timestampParam(refused_at),
      version,
    ],
  })
}

/* ── Links ──────────────────────────────────────────────────────────────────────────────────────────────────────── */

/**
 * Counts a link that is sent to an address, or by a user. Resolves to false if there were as many in this hour as there may be. Counts of
 * earlier hours in the same shard are removed (`removalTime`).
 */
export async function countLink(tx: Transaction, shard: Shard, digest: Uint8Array, now: EpochMs): Promise<boolean> {
  const before = timestampParam(now - HOUR_MS)
  const counted = await tx.query({
    text: sql`insert into link_count as c (shard, digest, sent, since) values ($1, $2, 1, $3)
           on conflict (shard, digest) do update set
             sent = case when c.since > $4 and c.since <= $6 then c.sent + 1 else 1 end,
             since = case when c.since > $4 and c.since <= $6 then c.since else $3 end
           where c.sent < $5 or c.since <= $4 or c.since > $6 returning 1`,
    values: [shard, digest, timestampParam(now), before, MAX_LINKS_PER_HOUR, timestampParam(now + CLOCK_MARGIN_MS)],
  })
  await tx.query({
    text: sql`delete from link_count where shard = $1 and since <= $2`,
    values: [shard, timestampParam(removalTime(now) - HOUR_MS)],
  })
  return counted.length > 0
}

/** Takes a link back that was counted and did not go out. */
export async function uncountLink(db: Queryable, shard: Shard, digest: Uint8Array): Promise<void> {
  await db.query({
    text: sql`update link_count set sent = sent - 1 where shard = $1 and digest = $2 and sent > 0`,
    values: [shard, digest],
  })
}
