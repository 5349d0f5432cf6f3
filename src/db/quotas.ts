import { MAX_QUOTAS_PER_USER } from '../domain/bounds.ts'
import type { Change } from '../domain/outbox-event.ts'
import {
  type ClosedWindow,
  changeQuota,
  createQuota,
  deleteQuota,
  type Quota,
  type QuotaChange,
  type QuotaDraft,
  type QuotaPatch,
  statusOf,
} from '../domain/quota.ts'
import { openingOf } from '../domain/reservation.ts'
import { quotaIdOf, shardOf, shardOfQuota } from '../domain/shard.ts'
import type { EpochMs } from '../domain/time.ts'
import type { ValidationIssue } from '../errors.ts'
import { type Database, type Queryable, type SqlValue, type Transaction, timestampParam } from './database.ts'
import { addReservations } from './ledger/add-reservations.ts'
import { type Author, recordChange } from './quota-changes.ts'

/**
 * Administrators' writes. Each locks the user's account, reads the user's quotas in a later statement, decides by the
 * domain's rules and writes the quota, its closed windows, the change and its event in one transaction.
 */

export type Created =
  | { outcome: 'created'; quota: Quota }
  | { outcome: 'invalid'; issues: ValidationIssue[] }
  | { outcome: 'conflict'; existingId: number }
  | { outcome: 'too_many_quotas' }

export type Updated =
  | { outcome: 'changed' | 'unchanged'; quota: Quota }
  | Exclude<QuotaChange, { outcome: 'changed' | 'unchanged' }>
  | { outcome: 'not_found' }
  | { outcome: 'version_mismatch'; version: number }
  | { outcome: 'conflict'; existingId: number }
  | { outcome: 'too_many_quotas' }

export type Deleted = { outcome: 'deleted' | 'not_found' } | { outcome: 'version_mismatch'; version: number }

/** Says whether a change may go ahead on this version of the quota (`If-Match`). */
export type VersionCheck = (version: number) => boolean

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

const INSTANTS = new Set<keyof Quota>([
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
    return INSTANTS.has(name) && value !== null ? timestampParam(value as EpochMs) : (value as SqlValue)
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

/** Makes a quota, if the rules and the user's other quotas allow it. */
export async function addQuota(tx: Transaction, draft: QuotaDraft, author: Author): Promise<Created> {
  const shard = shardOf(draft.user_id)
  const others = await lockUser(tx, shard, draft.user_id)
  const [row] = await tx.query<{ number: number }>({ text: `select nextval('quota_number') as number` })
  if (row === undefined) throw new Error('nextval gave no row')

  const created = createQuota(draft, { ...author, id: quotaIdOf(row.number, shard) })
  if ('issues' in created) return { outcome: 'invalid', issues: created.issues }
  const { quota } = created
  const obstacle = obstacleAmong(others, quota, author.now)
  if (obstacle !== undefined) return obstacle

  await tx.query({
    text: `insert into quota (shard, ${QUOTA_COLUMNS}) values ($1, ${placeholders})`,
    values: [shard, ...columnValues(quota)],
  })
  await addOpening(tx, shard, quota)
  await finish(tx, shard, { action: 'created', before: null, after: quota }, [...others, quota], [], author)
  return { outcome: 'created', quota }
}

/** Units that were used elsewhere before are in the ledger like all others. */
async function addOpening(tx: Transaction, shard: number, quota: Quota): Promise<void> {
  const opening = openingOf(quota)
  if (opening === null) return
  const { text, values } = addReservations.call({ shard, now: quota.created_at }, [opening])
  await tx.query({ text, values })
}

/** Changes a quota by merging: what the patch omits stays. */
export function updateQuota(
  db: Database,
  id: number,
  patch: QuotaPatch,
  author: Author,
  mayChange: VersionCheck,
): Promise<Updated> {
  return db.transaction(tx => writeChange(tx, id, current => changeQuota(current, patch, author), author, mayChange))
}

/** Decides by what the locked quota is, and writes what was decided, with the reason if there is one. */
export async function writeChange(
  tx: Transaction,
  id: number,
  decide: (current: Quota) => QuotaChange,
  author: Author,
  mayChange: VersionCheck,
  reason?: string,
): Promise<Updated> {
  const found = await lockQuota(tx, id)
  if (found === undefined) return { outcome: 'not_found' }
  const { current, others } = found
  if (!mayChange(current.version)) return { outcome: 'version_mismatch', version: current.version }

  const change = decide(current)
  if (change.outcome === 'unchanged') return { outcome: 'unchanged', quota: current }
  if (change.outcome !== 'changed') return change
  const { quota, closed } = change
  const obstacle = obstacleAmong(others, quota, author.now)
  if (obstacle !== undefined) return obstacle

  await writeQuota(tx, quota)
  const told = {
    action: 'updated' as const,
    before: current,
    after: quota,
    ...(reason === undefined ? {} : { reason }),
  }
  await finish(tx, shardOfQuota(id), told, [...others, quota], closed, author)
  return { outcome: 'changed', quota }
}

/** Deletes a quota. Its row, history and reservations stay for audit. */
export function removeQuota(db: Database, id: number, author: Author, mayChange: VersionCheck): Promise<Deleted> {
  return db.transaction(async tx => {
    const found = await lockQuota(tx, id)
    if (found === undefined) return { outcome: 'not_found' }
    const { current, others } = found
    if (!mayChange(current.version)) return { outcome: 'version_mismatch', version: current.version }

    const { quota, closed } = deleteQuota(current, author)
    await writeQuota(tx, quota)
    const shard = shardOfQuota(id)
    await finish(tx, shard, { action: 'deleted', before: current, after: quota }, others, closed, author)
    return { outcome: 'deleted' }
  })
}

/**
 * Locks the user's account, then reads the user's undeleted quotas in a later statement, so that no administrator's
 * change that was committed in between is missed. The quotas are locked too, in the order the engine locks them: it
 * may be moving their counters without the account.
 */
async function lockUser(tx: Transaction, shard: number, userId: number): Promise<Quota[]> {
  await tx.query({
    text: 'insert into account (shard, user_id) values ($1, $2) on conflict do nothing',
    values: [shard, userId],
  })
  await tx.query({
    text: 'select 1 from account where shard = $1 and user_id = $2 for update',
    values: [shard, userId],
  })
  return tx.query<Quota>({
    text: `select ${QUOTA_COLUMNS} from quota
           where shard = $1 and user_id = $2 and deleted_at is null order by id for update`,
    values: [shard, userId],
  })
}

/** Locks the user of a quota; undefined if there is no such quota or it is deleted. */
async function lockQuota(tx: Transaction, id: number): Promise<{ current: Quota; others: Quota[] } | undefined> {
  const found = await findQuota(tx, id)
  if (found === undefined) return undefined
  const quotas = await lockUser(tx, shardOfQuota(id), found.user_id)
  const current = quotas.find(quota => quota.id === id)
  return current && { current, others: quotas.filter(quota => quota.id !== id) }
}

/** What among the user's other quotas stands in the way of this one. */
function obstacleAmong(others: readonly Quota[], quota: Quota, now: EpochMs) {
  const twin = others.find(other => other.external_ref !== null && other.external_ref === quota.external_ref)
  if (twin !== undefined) return { outcome: 'conflict' as const, existingId: twin.id }
  const isFull = countUnexpired(others, now) >= MAX_QUOTAS_PER_USER && statusOf(quota, now) !== 'expired'
  return isFull ? { outcome: 'too_many_quotas' as const } : undefined
}

function countUnexpired(quotas: readonly Quota[], now: EpochMs): number {
  return quotas.filter(quota => statusOf(quota, now) !== 'expired').length
}

async function writeQuota(tx: Transaction, quota: Quota): Promise<void> {
  await tx.query({
    text: `update quota set (${QUOTA_COLUMNS}) = row (${placeholders}), seq = seq + 1 where shard = $1 and id = $2`,
    values: [shardOfQuota(quota.id), ...columnValues(quota)],
  })
}

/**
 * What every change ends with: the user's other quotas get a new `seq` too, so that no engine decides on what it knew
 * before; the account learns how many are unexpired; closed windows and the change itself are recorded.
 */
async function finish(
  tx: Transaction,
  shard: number,
  change: Change,
  undeleted: readonly Quota[],
  closed: readonly ClosedWindow[],
  author: Author,
): Promise<void> {
  const { id, user_id: userId } = change.after
  await tx.query({
    text: 'update quota set seq = seq + 1 where shard = $1 and user_id = $2 and deleted_at is null and id <> $3',
    values: [shard, userId, id],
  })
  await tx.query({
    text: 'update account set live = $3 where shard = $1 and user_id = $2',
    values: [shard, userId, countUnexpired(undeleted, author.now)],
  })
  for (const window of closed) await closeWindow(tx, shard, id, window)
  await recordChange(tx, shard, change, author)
}

async function closeWindow(tx: Transaction, shard: number, quotaId: number, window: ClosedWindow): Promise<void> {
  await tx.query({
    text: `insert into quota_window (shard, quota_id, window_no, window_start, window_end, "limit", overage_limit,
             rolled_over, used, reserved, carried)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [
      shard,
      quotaId,
      window.window_no,
      timestampParam(window.window_start),
      timestampParam(window.window_end),
      window.limit,
      window.overage_limit,
      window.rolled_over,
      window.used,
      window.reserved,
      window.carried,
    ],
  })
}

/** A user's quotas that are not over, and how many are, in one snapshot. */
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
                      where shard = $1 and user_id = $2 and deleted_at is null
                        and (expires_at is null or expires_at > $3)) q on true
           order by q.id`,
    values: [shardOf(userId), userId, timestampParam(now)],
  })
  return { quotas: rows.filter(row => row.id !== null), expired: rows[0]?.expired ?? 0 }
}
