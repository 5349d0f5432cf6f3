/** Rows of quotas and of their users' accounts. */

import { quotaIdOf, shardOf, shardOfQuota } from '../../domain/basics/shard.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import { SETTING_NAMES, TIME_NAMES } from '../../domain/quotas/quota-settings.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { runPerCitusShard, shardFilter } from '../cluster/parts.ts'
import type { Queryable, SqlValue, Transaction } from '../connection/database.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { periodIn, storedPeriod } from '../ledger/stored-period.ts'
import { fencedSince, unexpiredAt } from '../ledger/unexpired.ts'
import { NOT_DELETED } from './conditions.ts'

/** The columns of a quota, which are the fields of `Quota`. */
const COLUMNS = [
  'id',
  'user_id',
  'version',
  'kind',
  'period',
  'anchor',
  'time_zone',
  'per',
  'counts',
  ...SETTING_NAMES,
  'window_no',
  'window_start',
  'window_end',
  'used',
  'reserved',
  'rolled_over',
  'alerted',
  'expiry_emitted',
  'expiry_anchor',
  'plan',
  'former',
  'created_at',
  'created_by',
  'updated_at',
  'updated_by',
  'deleted_at',
] as const satisfies readonly (keyof Quota)[]

const TIMESTAMPS = new Set<keyof Quota>([
  ...TIME_NAMES,
  'window_start',
  'window_end',
  'created_at',
  'updated_at',
  'deleted_at',
])

const quoted = COLUMNS.map(sqlName)
/** The columns as they are written. */
export const STORED_COLUMNS = joinSql(quoted)

/** The select list of a `Quota`. */
export const QUOTA_COLUMNS = joinSql(
  quoted.map((column, at) => (COLUMNS[at] === 'period' ? sql`${periodIn(column)} as period` : column)),
)

/** Quotas as rows of the table `quota`, in JSON: their fields are its columns. */
function rowsOf(quotas: readonly Quota[]): string {
  return JSON.stringify(
    quotas.map(quota => ({
      shard: shardOfQuota(quota.id),
      ...Object.fromEntries(COLUMNS.map(name => [name, columnValue(quota, name)])),
    })),
  )
}

function columnValue(quota: Quota, name: (typeof COLUMNS)[number]): unknown {
  if (name === 'period') return storedPeriod(quota)
  return TIMESTAMPS.has(name) ? timestampParam(quota[name] as EpochMs | null) : quota[name]
}

/** One quota by its id, deleted or not, as it is stored. */
export async function findQuota(db: Queryable, id: number): Promise<Quota | undefined> {
  const [quota] = await db.query<Quota>({
    name: 'find-quota',
    text: sql`select ${QUOTA_COLUMNS} from quota where shard = $1 and id = $2`,
    values: [shardOfQuota(id), id],
  })
  return quota
}

/** Quotas by their ids, deleted or not, as they are stored, without a lock. */
export function findQuotas(tx: Transaction, ids: readonly number[]): Promise<Quota[]> {
  return tx.query<Quota>({
    text: sql`select ${QUOTA_COLUMNS} from quota
           where (shard, id) in (select * from unnest($1::smallint[], $2::bigint[])) ${shardFilter(tx, sql`shard`, sql`$1`)}`,
    values: [ids.map(shardOfQuota), ids],
  })
}

/** Numbers for the ids of quotas to be created. They are not used again: a transaction that fails leaves a gap. */
export async function nextQuotaNumbers(tx: Transaction, count: number): Promise<number[]> {
  const rows = await tx.query<{ number: number }>({
    text: sql`select nextval('quota_number') as number from generate_series(1, $1)`,
    values: [count],
  })
  return rows.map(({ number }) => number)
}

/** An id for a quota to be created for the user. */
export async function nextQuotaId(tx: Transaction, userId: number): Promise<number> {
  const [number] = await nextQuotaNumbers(tx, 1)
  if (number === undefined) throw new Error('nextval returned no row')
  return quotaIdOf(number, shardOf(userId))
}

const ACCOUNTS = sql`select shard, user_id from unnest($1::smallint[], $2::bigint[]) k (shard, user_id)`
/** A cluster inserts where it selects: in the shards of a table that it joins. */
const ACCOUNTS_IN_CLUSTER = sql`
  select h.shard, k.user_id from unnest($1::smallint[], $2::bigint[]) k (shard, user_id) join shard_head h on h.shard = k.shard
  where h.shard = any($1::smallint[])`

/**
 * Locks users' accounts, in the order in which batches lock them, and makes those that are missing. It writes, because a row
 * that an erasure removes while a mere lock is waited for would leave the transaction without one.
 */
export async function lockAccounts(tx: Transaction, userIds: readonly number[]): Promise<void> {
  await tx.query({
    text: sql`insert into account (shard, user_id)
           ${tx.isCluster ? ACCOUNTS_IN_CLUSTER : ACCOUNTS} order by user_id
           on conflict (shard, user_id) do update set live = account.live`,
    values: [userIds.map(shardOf), userIds],
  })
}

/**
 * Locks the accounts of those of the users who have one, in the order in which batches lock them, and answers whose they are. It makes
 * none: a user who was erased since the quotas or the plan were read would be listed again.
 */
export async function lockKnownAccounts(tx: Transaction, userIds: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await runPerCitusShard(tx, userIds, shardOf, part =>
    tx.query<{ user_id: number }>({
      text: sql`select user_id from account
             where (shard, user_id) in (select * from unnest($1::smallint[], $2::bigint[])) ${shardFilter(tx, sql`shard`, sql`$1`)}
             order by user_id for update`,
      values: [part.map(shardOf), part],
    }),
  )
  return new Set(rows.map(({ user_id }) => user_id))
}

/** The quotas that a change concerns even if they have expired: the changed one, and one that has an `external_ref`. */
export interface Concerned {
  readonly id?: number | null
  readonly external_ref?: string | null
}

/**
 * Locks those undeleted quotas of a user, whose account is locked, that a change depends on, and returns them by id: the
 * unexpired ones, some that expired in the last minutes, and those that the change concerns.
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
  return tx.query<Quota>({
    text: sql`select ${QUOTA_COLUMNS} from quota
           where shard = $1 and id = any(array(
             select id from quota where shard = $1 and user_id = $2 and ${unexpiredAt(sql`$3`)}
             union select id from quota where shard = $1 and user_id = $2 and id = $4 and deleted_at is null
             union select id from quota
               where shard = $1 and user_id = $2 and external_ref = $5 and deleted_at is null
           )) order by id for update`,
    values: [shardOf(userId), userId, timestampParam(fencedSince(now)), id, external_ref],
  })
}

/** A user and the `external_ref` of a quota, which is unique among the user's undeleted quotas. */
export interface QuotaReference {
  readonly user_id: number
  readonly external_ref: string
}

/**
 * The undeleted quotas with these references, without a lock. `offset 0` makes the planner look up one after the other: during
 * an import, the table is many times as large as its statistics say.
 */
export function quotasByReference(tx: Transaction, references: readonly QuotaReference[]): Promise<Quota[]> {
  return runPerCitusShard(tx, references, shardOfRow, part =>
    tx.query<Quota>({
      text: sql`select q.* from unnest($1::smallint[], $2::bigint[], $3::text[]) k (of_shard, of_user, ref)
             cross join lateral (
               select ${QUOTA_COLUMNS} from quota
               where shard = of_shard and user_id = of_user and external_ref = ref and deleted_at is null
                 ${shardFilter(tx, sql`shard`, sql`$1`)} offset 0
             ) q`,
      values: referenceValues(part),
    }),
  )
}

/**
 * Reads the quotas of `lockQuotasOfUser`, of many users whose accounts are locked: their unexpired quotas and those that
 * the changes concern. It locks them by user and id, as the engine does.
 *
 * @param mode `read` takes no lock, for a transaction that writes nothing
 */
export function quotasOfUsers(
  tx: Transaction,
  concerned: readonly (Concerned & Pick<Quota, 'user_id'>)[],
  now: EpochMs,
  mode: 'lock' | 'read',
): Promise<Quota[]> {
  const isInPart = shardFilter(tx, sql`shard`, sql`$1`)
  return runPerCitusShard(tx, concerned, shardOfRow, part =>
    tx.query<Quota>({
      text: sql`select ${QUOTA_COLUMNS} from quota where (shard, id) in (
               select q.* from unnest($1::smallint[], $2::bigint[]) k (of_shard, of_user) cross join lateral (
                 select shard, id from quota
                 where shard = of_shard and user_id = of_user and ${unexpiredAt(sql`$5`)} ${isInPart} offset 0
               ) q
               union
               select q.* from unnest($1::smallint[], $2::bigint[], $3::text[]) k (of_shard, of_user, ref) cross join lateral (
                 select shard, id from quota
                 where shard = of_shard and user_id = of_user and external_ref = ref and deleted_at is null ${isInPart} offset 0
               ) q
               union
               select k.* from unnest($1::smallint[], $4::bigint[]) k (of_shard, of_id) cross join lateral (
                 select from quota q where shard = of_shard and id = of_id and ${NOT_DELETED} ${isInPart} offset 0
               ) q
             ) ${isInPart} order by user_id, id + 0 ${mode === 'lock' ? sql`for update` : sql``}`,
      values: [...referenceValues(part), part.map(({ id = null }) => id), timestampParam(fencedSince(now))],
    }),
  )
}

const shardOfRow = ({ user_id }: Pick<Quota, 'user_id'>) => shardOf(user_id)

function referenceValues(references: readonly (Concerned & Pick<Quota, 'user_id'>)[]): SqlValue[] {
  return [
    references.map(({ user_id }) => shardOf(user_id)),
    references.map(({ user_id }) => user_id),
    references.map(({ external_ref = null }) => external_ref),
  ]
}

export async function insertQuotas(tx: Transaction, quotas: readonly Quota[]): Promise<void> {
  await tx.query({
    text: sql`insert into quota (shard, ${STORED_COLUMNS})
           select shard, ${STORED_COLUMNS} from json_populate_recordset(null::quota, $1::json)`,
    values: [rowsOf(quotas)],
  })
}

/** Writes every column of quotas that exist. */
export async function replaceQuotas(tx: Transaction, quotas: readonly Quota[]): Promise<void> {
  await tx.query({
    text: sql`update quota q set (${STORED_COLUMNS}) = row (${joinSql(quoted.map(name => sql`k.${name}`))}), seq = q.seq + 1
           from json_populate_recordset(null::quota, $1::json) k
           where q.shard = k.shard and q.id = k.id ${shardFilter(tx, sql`q.shard`, sql`$2`)}`,
    values: [rowsOf(quotas), ...(tx.isCluster ? [quotas.map(({ id }) => shardOfQuota(id))] : [])],
  })
}

/**
 * Gives quotas a new `seq`, but for those that have long expired: the other quotas of a user whose quota was changed. An
 * engine decides from memory only if it remembers an unexpired quota of the user, so a new `seq` of each of those stops it.
 */
export async function fenceQuotas(tx: Transaction, quotas: readonly Quota[], now: EpochMs): Promise<void> {
  const fenced = quotas.filter(({ expires_at }) => expires_at === null || expires_at > fencedSince(now))
  if (fenced.length === 0) return
  const ids = fenced.map(({ id }) => id)
  await tx.query({
    text: sql`update quota q set seq = q.seq + 1 from unnest($1::smallint[], $2::bigint[]) k (shard, id)
           where q.shard = k.shard and q.id = k.id ${shardFilter(tx, sql`q.shard`, sql`$1`)}`,
    values: [ids.map(shardOfQuota), ids],
  })
}

/** Writes to accounts how many quotas of the user are neither deleted nor expired at `now`. */
export async function setLiveQuotas(tx: Transaction, live: ReadonlyMap<number, number>, now: EpochMs): Promise<void> {
  await tx.query({
    text: sql`update account a set live = k.live, live_at = $4
           from unnest($1::smallint[], $2::bigint[], $3::int[]) k (shard, user_id, live)
           where a.shard = k.shard and a.user_id = k.user_id ${shardFilter(tx, sql`a.shard`, sql`$1`)}`,
    values: [[...live.keys()].map(shardOf), [...live.keys()], [...live.values()], timestampParam(now)],
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
    text: sql`select ended.expired, q.*
           from (select count(*) as expired from quota
                 where shard = $1 and user_id = $2 and deleted_at is null and expires_at <= $3) ended
           left join (select ${QUOTA_COLUMNS} from quota
                      where shard = $1 and user_id = $2 and ${unexpiredAt(sql`$3`)}) q on true
           order by q.id`,
    values: [shardOf(userId), userId, timestampParam(now)],
  })
  return { quotas: rows.filter(row => row.id !== null), expired: rows[0]?.expired ?? 0 }
}
