/** Rows of users' requests for more units. Each lies in the shard of its user, which its id holds. */
import { MAX_INTEGER, MAX_REQUESTS_PER_DAY } from '../../domain/basics/bounds.ts'
import { type Shard, shardOf, shardOfQuota } from '../../domain/basics/shard.ts'
import type { IncreaseRequest, RequestStatus } from '../../domain/quotas/increase-request.ts'
import { CLOCK_MARGIN_MS, DAY_MS, type EpochMs } from '../../domain/time/time.ts'
import { runPerCitusShard } from '../cluster/parts.ts'
import type { Database, Queryable, SqlValue, Transaction } from '../connection/database.ts'
import { bind } from '../connection/parameters.ts'
import { joinSql, type Sql, sql, sqlName } from '../connection/sql.ts'
import { BY_KEYS } from '../connection/transaction-settings.ts'
import { timestampParam } from '../connection/values.ts'
import { allOf, type Page, readPage, type Slice } from '../lists/pages.ts'

const COLUMNS = [
  'id',
  'user_id',
  'quota_id',
  'units',
  'until',
  'reason',
  'status',
  'created_at',
  'decided_at',
  'decided_by',
  'note',
  'granted_units',
  'granted_until',
  'granted_quota_id',
] as const satisfies readonly (keyof IncreaseRequest)[]

const REQUEST_COLUMNS = joinSql(COLUMNS.map(sqlName))

export async function findIncreaseRequest(db: Queryable, id: number): Promise<IncreaseRequest | undefined> {
  const [request] = await db.query<IncreaseRequest>({
    text: sql`select ${REQUEST_COLUMNS} from increase_request where shard = $1 and id = $2`,
    values: [shardOfQuota(id), id],
  })
  return request
}

export interface IncreaseRequestFilter {
  user_id?: number
  status?: RequestStatus
}

/** A page of requests, newest first. An index has those of each filter in this order. */
export function listIncreaseRequests(
  db: Database,
  { user_id, status }: IncreaseRequestFilter,
  { after = MAX_INTEGER, size }: Page<number>,
): Promise<Slice<IncreaseRequest, number>> {
  const values: SqlValue[] = [after, size + 1]
  const conditions: Sql[] = [sql`id < $1`]
  if (user_id !== undefined)
    conditions.push(sql`shard = ${bind(values, shardOf(user_id))}`, sql`user_id = ${bind(values, user_id)}`)
  if (status !== undefined) conditions.push(sql`status = ${bind(values, status)}`)
  const text = sql`select ${REQUEST_COLUMNS} from increase_request where ${allOf(conditions)}
    order by id desc limit $2`
  return readPage(db, size, { page: { text, values }, keyOf: ({ id }) => id })
}

/**
 * How many requests of a user are open, and how many of the newest were made in 24 hours. Conclusive under the lock of the account. Those
 * that a clock which was ahead has made do not count.
 */
export async function countRequests(
  tx: Transaction,
  userId: number,
  now: EpochMs,
): Promise<{ open: number; made: number }> {
  const [row] = await tx.query<{ open: number; made: number }>({
    text: sql`select
             (select count(*) from increase_request where shard = $1 and user_id = $2 and status = 'open') as open,
             (select count(*) from (
               select created_at from increase_request where shard = $1 and user_id = $2 order by id desc limit $3
             ) newest where created_at > $4 and created_at <= $5) as made`,
    values: [
      shardOf(userId),
      userId,
      MAX_REQUESTS_PER_DAY,
      timestampParam(now - DAY_MS),
      timestampParam(now + CLOCK_MARGIN_MS),
    ],
  })
  return row ?? { open: 0, made: 0 }
}

/** Whether a request was approved automatically in a window of a grant. Conclusive under the lock of the account. */
export async function hasAutomatic(tx: Transaction, quotaId: number, window: number): Promise<boolean> {
  const rows = await tx.query({
    text: sql`select from increase_request where shard = $1 and quota_id = $2 and automatic_window = $3`,
    values: [shardOfQuota(quotaId), quotaId, window],
  })
  return rows.length > 0
}

/** The window of a grant in which a request was approved automatically, and when that ends; null: never. */
interface AutomaticWindow {
  window_no: number
  end: EpochMs | null
}

export async function insertIncreaseRequest(
  tx: Transaction,
  request: IncreaseRequest,
  automatic: AutomaticWindow | null,
): Promise<void> {
  const { until, created_at, decided_at, granted_until } = request
  const row = {
    ...request,
    shard: shardOf(request.user_id),
    until: timestampParam(until),
    created_at: timestampParam(created_at),
    decided_at: timestampParam(decided_at),
    granted_until: timestampParam(granted_until),
    automatic_window: automatic?.window_no ?? null,
    retained_from: timestampParam(automatic?.end ?? null),
  }
  await tx.query({
    text: sql`insert into increase_request (shard, ${REQUEST_COLUMNS}, automatic_window, retained_from)
           select shard, ${REQUEST_COLUMNS}, automatic_window, retained_from
           from json_populate_record(null::increase_request, $1::json)`,
    values: [JSON.stringify(row)],
  })
}

/** Writes the decision about a request. The account of its user is locked. */
export async function setDecided(tx: Transaction, request: IncreaseRequest): Promise<void> {
  const { id, status, decided_at, decided_by, note, granted_units, granted_until, granted_quota_id } = request
  await tx.query({
    text: sql`update increase_request set status = $3, decided_at = $4, retained_from = $4, decided_by = $5, note = $6,
             granted_units = $7, granted_until = $8, granted_quota_id = $9
           where shard = $1 and id = $2`,
    values: [
      shardOfQuota(id),
      id,
      status,
      timestampParam(decided_at),
      decided_by,
      note,
      granted_units,
      timestampParam(granted_until),
      granted_quota_id,
    ],
  })
}

/**
 * Removes a page of the requests whose retention began at `cutoff` or before. Resolves to how many it read: with fewer than `rows`, none is
 * left.
 */
export function removeDecidedRequests(
  db: Pick<Database, 'transaction'>,
  cutoff: EpochMs,
  rows: number,
): Promise<number> {
  return db.transaction(async tx => {
    await tx.query({ text: BY_KEYS })
    const page = await tx.query<{ shard: Shard; id: number }>({
      text: sql`select shard, id from increase_request where retained_from <= $1 order by retained_from limit $2`,
      values: [timestampParam(cutoff), rows],
    })
    if (page.length === 0) return 0
    // What another process has removed meanwhile is not there any more. Of these, none is ever changed.
    await runPerCitusShard(
      tx,
      page,
      ({ shard }) => shard,
      part =>
        tx.query({
          text: sql`delete from increase_request r using unnest($1::smallint[], $2::bigint[]) k (shard, id)
                 where r.shard = k.shard and r.id = k.id and r.shard = any($1::smallint[])`,
          values: [part.map(({ shard }) => shard), part.map(({ id }) => id)],
        }),
    )
    return page.length
  })
}
