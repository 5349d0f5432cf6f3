/** What another system calls the users: their profiles, the references that name them, and who changed them. */
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { type Shard, shardOf, shardOfReference } from '../../domain/basics/shard.ts'
import { type EpochMs, MINUTE_MS } from '../../domain/time/time.ts'
import { emptyProfile, type UserProfile } from '../../domain/users/user-profile.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Database, Queryable, Transaction } from '../connection/database.ts'
import { sql } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { nextNumber } from '../ledger/keys.ts'

const COLUMNS = sql`user_id, ref, name, email, language, time_zone, rate_card_id, version, updated_at, updated_by`

/** A user's profile; an empty one if nothing was ever set. */
export async function findProfile(db: Queryable, userId: number): Promise<UserProfile> {
  const [profile] = await db.query<UserProfile>({
    name: 'find-profile',
    text: sql`select ${COLUMNS} from user_profile where shard = $1 and user_id = $2`,
    values: [shardOf(userId), userId],
  })
  return profile ?? emptyProfile(userId)
}

/** The names that other systems and people have for a user. */
export interface UserNames {
  user_ref: string | null
  user_name: string | null
}

/** The names of those of the users that have a profile. `offset 0` makes the planner look up one after the other. */
export async function namesOfUsers(db: Database, userIds: readonly number[]): Promise<Map<number, UserNames>> {
  const found = await db.transaction(
    tx =>
      runPerCitusShard(tx, userIds, shardOf, part =>
        tx.query<UserNames & { user_id: number }>({
          name: 'names-of-users',
          text: sql`select p.user_id, p.ref as user_ref, p.name as user_name
                 from unnest($1::smallint[], $2::bigint[]) k (shard, user_id) cross join lateral (
                   select user_id, ref, name from user_profile u
                   where u.shard = k.shard and u.user_id = k.user_id ${shardFilter(tx, sql`u.shard`, sql`$1`)} offset 0
                 ) p`,
          values: [part.map(shardOf), part],
        }),
      ),
    'snapshot',
  )
  return new Map(found.map(({ user_id, ...names }) => [user_id, names]))
}

/** Writes a profile that has changed. The account is locked. */
export async function writeProfile(tx: Transaction, profile: UserProfile): Promise<void> {
  const { user_id, ref, name, email, language, time_zone, rate_card_id, version, updated_at, updated_by } = profile
  await tx.query({
    text: sql`insert into user_profile (shard, ${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
           on conflict (shard, user_id) do update set ref = $3, name = $4, email = $5, language = $6, time_zone = $7, rate_card_id = $8,
             version = $9, updated_at = $10, updated_by = $11`,
    values: [
      shardOf(user_id),
      user_id,
      ref,
      name,
      email,
      language,
      time_zone,
      rate_card_id,
      version,
      updated_at === null ? null : timestampParam(updated_at),
      updated_by,
    ],
  })
}

/* ── References ─────────────────────────────────────────────────────────────────────────────────────────────────── */

/**
 * The users that references name, by reference; null: an erasure has freed it, and it is reserved. `offset 0` makes the planner look up one
 * after the other.
 */
export async function usersByReference(db: Database, refs: readonly string[]): Promise<Map<string, number | null>> {
  const found = await db.transaction(
    tx =>
      runPerCitusShard(tx, refs, shardOfReference, part =>
        tx.query<{ ref: string; user_id: number | null }>({
          name: 'users-by-reference',
          text: sql`select k.ref, u.user_id from unnest($1::smallint[], $2::text[]) k (shard, ref) cross join lateral (
                 select user_id from user_ref r
                 where r.shard = k.shard and r.ref = k.ref ${shardFilter(tx, sql`r.shard`, sql`$1`)}
                 offset 0
               ) u`,
          values: [part.map(shardOfReference), part],
        }),
      ),
    'snapshot',
  )
  return new Map(found.map(({ ref, user_id }) => [ref, user_id]))
}

/** Makes a reference name the user. Resolves to false if it names another one, or was freed a few minutes ago. */
export async function claimReference(tx: Transaction, ref: string, userId: number): Promise<boolean> {
  const claimed = await tx.query({
    text: sql`insert into user_ref (shard, ref, user_id) values ($1, $2, $3) on conflict (shard, ref) do nothing returning 1`,
    values: [shardOfReference(ref), ref, userId],
  })
  return claimed.length > 0
}

/** The first id of users that the service makes: those of other systems are rarely as large. */
const FIRST_OWN_USER_ID = 2 ** 40

/**
 * An id for a user that the service makes, by the time and at random. A sequence would give ids again that were answered, after the restore of
 * a backup, a failover or a crash of a cluster's coordinator, and a sender that kept one would send for another user.
 */
export const newUserId = (): number => FIRST_OWN_USER_ID + (nextNumber() % (MAX_INTEGER - FIRST_OWN_USER_ID))

/** Takes the profile away from a user who is erased, and the reference from the profile. Resolves to the number of profiles removed. */
export async function removeProfile(tx: Transaction, userId: number, now: EpochMs): Promise<number> {
  const [removed] = await tx.query<{ ref: string | null }>({
    text: sql`delete from user_profile where shard = $1 and user_id = $2 returning ref`,
    values: [shardOf(userId), userId],
  })
  if (removed === undefined) return 0
  if (removed.ref !== null)
    await tx.query({
      text: sql`update user_ref set user_id = null, freed_at = $4 where shard = $1 and ref = $2 and user_id = $3`,
      values: [shardOfReference(removed.ref), removed.ref, userId, timestampParam(now)],
    })
  return 1
}

/** How long a freed reference stays reserved before it may name another user: ten times as long as a process remembers one. */
export const REFERENCE_RESERVED_MS = 10 * MINUTE_MS

/**
 * Removes a page of the references that were freed long enough ago. Those that a clock which was ahead has freed in the future count
 * as freed now. Resolves to how many it found.
 */
export async function removeFreedReferences(db: Queryable, now: EpochMs, rows: number): Promise<number> {
  const found = await db.query<{ shard: Shard; ref: string; freed_at: EpochMs }>({
    name: 'find-freed-references',
    text: sql`select shard, ref, freed_at from user_ref
           where freed_at is not null and (freed_at <= $1 or freed_at > $2) order by freed_at limit $3`,
    values: [timestampParam(now - REFERENCE_RESERVED_MS), timestampParam(now), rows],
  })
  for (const { shard, ref, freed_at } of found) {
    const values = [shard, ref, timestampParam(freed_at)]
    // Of the row that was read only: the reference may have been removed and freed again.
    if (freed_at <= now)
      await db.query({ text: sql`delete from user_ref where shard = $1 and ref = $2 and freed_at = $3`, values })
    else
      await db.query({
        text: sql`update user_ref set freed_at = $4 where shard = $1 and ref = $2 and freed_at = $3`,
        values: [...values, timestampParam(now)],
      })
  }
  return found.length
}
