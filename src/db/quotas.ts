/** Rows of quotas and of their users' accounts. */
import type { Quota } from '../domain/quota.ts'
import { quotaIdOf, shardOf, shardOfQuota } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { Queryable, SqlValue, Transaction } from './database.ts'
import { fencedSince, unexpiredAt } from './unexpired.ts'
import { timestampParam } from './values.ts'

/** The columns of a quota, which are the fields of `Quota`. */
const COLUMNS = [
  'id',
  'user_id',
  'version',
  'kind',
  'name',
  'limit',
  'period',
  'time_zone',
  'rollover_limit',
  'overage_limit',
  'priority',
  'starts_at',
  'expires_at',
  'countries',
  'message_types',
  'alert_at',
  'enabled',
  'external_ref',
  'metadata',
  'window_no',
  'window_start',
  'window_end',
  'used',
  'reserved',
  'rolled_over',
  'alerted',
  'expiry_emitted',
  'created_at',
  'created_by',
  'updated_at',
  'updated_by',
  'deleted_at',
] as const satisfies readonly (keyof Quota)[]

const TIMESTAMPS = new Set<keyof Quota>([
  'starts_at',
  'expires_at',
  'window_start',
  'window_end',
  'created_at',
  'updated_at',
  'deleted_at',
])

const quoted = COLUMNS.map(name => `"${name}"`)

/** What to select for a `Quota`. */
export const QUOTA_COLUMNS = quoted.join(', ')

/** `$1` is the shard, `$2…` the columns in order. */
const placeholders = COLUMNS.map((_, index) => `$${index + 2}`).join(', ')

function columnValues(quota: Quota): SqlValue[] {
  return COLUMNS.map(name => {
    const value = quota[name]
    if (name === 'metadata') return JSON.stringify(value)
    return TIMESTAMPS.has(name) && value !== null ? timestampParam(value as EpochMs) : (value as SqlValue)
  })
}

/** One quota by its id, deleted or not, as it is stored. */
export async function findQuota(db: Queryable, id: number): Promise<Quota | undefined> {
  const [quota] = await db.query<Quota>({
    name: 'find-quota',
    text: `select ${QUOTA_COLUMNS} from quota where shard = $1 and id = $2`,
    values: [shardOfQuota(id), id],
  })
  return quota
}

/** An id for a quota to be created for the user. Ids are not reused: a transaction that fails leaves a gap. */
export async function nextQuotaId(tx: Transaction, userId: number): Promise<number> {
  const [row] = await tx.query<{ number: number }>({ text: `select nextval('quota_number') as number` })
  if (row === undefined) throw new Error('nextval returned no row')
  return quotaIdOf(row.number, shardOf(userId))
}

/**
 * Locks the user's account, and makes it if need be. It writes, because a row that an erasure removes while a mere lock is
 * waited for would leave the transaction without one.
 */
export async function lockAccount(tx: Transaction, userId: number): Promise<void> {
  await tx.query({
    text: `insert into account (shard, user_id) values ($1, $2)
           on conflict (shard, user_id) do update set live = account.live`,
    values: [shardOf(userId), userId],
  })
}

/** The quotas that a change concerns even if they have expired: the changed one, and one that has an `external_ref`. */
export interface Concerned {
  readonly id?: number | null
  readonly external_ref?: string | null
}

/**
 * Locks the user's account, makes it if need be, and then those undeleted quotas that a change depends on, which it
 * returns by id: the unexpired ones, some that expired in the last minutes, and those that the change concerns.
 *
 * It reads them in a later statement, so that it sees administrators' changes that were committed while it waited for the
 * account. It locks the quotas too, in the engine's order: the engine may move their counters without locking the
 * account. Only administrators, who hold the account's lock, change which quotas are selected.
 */
export async function lockQuotasOfUser(
  tx: Transaction,
  userId: number,
  now: EpochMs,
  { id = null, external_ref = null }: Concerned = {},
): Promise<Quota[]> {
  const values = [shardOf(userId), userId]
  await lockAccount(tx, userId)
  return tx.query<Quota>({
    text: `select ${QUOTA_COLUMNS} from quota
           where shard = $1 and id = any(array(
             select id from quota where shard = $1 and user_id = $2 and ${unexpiredAt('$3')}
             union select id from quota where shard = $1 and user_id = $2 and id = $4 and deleted_at is null
             union select id from quota
               where shard = $1 and user_id = $2 and external_ref = $5 and deleted_at is null
           )) order by id for update`,
    values: [...values, timestampParam(fencedSince(now)), id, external_ref],
  })
}

export async function insertQuota(tx: Transaction, quota: Quota): Promise<void> {
  await tx.query({
    text: `insert into quota (shard, ${QUOTA_COLUMNS}) values ($1, ${placeholders})`,
    values: [shardOfQuota(quota.id), ...columnValues(quota)],
  })
}

/** Writes every column of a quota that exists. */
export async function replaceQuota(tx: Transaction, quota: Quota): Promise<void> {
  await tx.query({
    text: `update quota set (${QUOTA_COLUMNS}) = row (${placeholders}), seq = seq + 1 where shard = $1 and id = $2`,
    values: [shardOfQuota(quota.id), ...columnValues(quota)],
  })
}

/**
 * Gives the other quotas of a quota's user a new `seq`, but for those that have long expired. An engine decides from
 * memory only if it remembers an unexpired quota of the user, so a new `seq` of each of those stops it.
 */
export async function fenceOtherQuotas(tx: Transaction, { id, user_id: userId }: Quota, now: EpochMs): Promise<void> {
  await tx.query({
    text: `update quota set seq = seq + 1
           where shard = $1 and user_id = $2 and ${unexpiredAt('$3')} and id <> $4`,
    values: [shardOf(userId), userId, timestampParam(fencedSince(now)), id],
  })
}

/** Writes to the account how many quotas of the user are neither deleted nor expired at `now`. */
export async function setLiveQuotas(tx: Transaction, userId: number, live: number, now: EpochMs): Promise<void> {
  await tx.query({
    text: 'update account set live = $3, live_at = $4 where shard = $1 and user_id = $2',
    values: [shardOf(userId), userId, live, timestampParam(now)],
  })
}

/** A user's undeleted quotas that have not expired, and how many have, in one snapshot. */
export async function quotasOfUser(
  db: Queryable,
  userId: number,
  now: EpochMs,
): Promise<{ quotas: Quota[]; expired: number }> {
  const rows = await db.query<Quota & { expired: number }>({
    name: 'quotas-of-user',
    text: `select ended.expired, q.*
           from (select count(*) as expired from quota
                 where shard = $1 and user_id = $2 and deleted_at is null and expires_at <= $3) ended
           left join (select ${QUOTA_COLUMNS} from quota
                      where shard = $1 and user_id = $2 and ${unexpiredAt('$3')}) q on true
           order by q.id`,
    values: [shardOf(userId), userId, timestampParam(now)],
  })
  return { quotas: rows.filter(row => row.id !== null), expired: rows[0]?.expired ?? 0 }
}
