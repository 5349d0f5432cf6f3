/** Rows of transfers. Each lies in the shard of its giver, as does its reservation. */
import { MAX_INTEGER } from '../../domain/basics/bounds.ts'
import { shardOf, shardOfQuota } from '../../domain/basics/shard.ts'
import type { Quota } from '../../domain/quotas/quota.ts'
import type { EpochMs } from '../../domain/time/time.ts'
import { openingIdOf } from '../../domain/units/reservation.ts'
import type { Transfer } from '../../domain/units/transfer.ts'
import type { Queryable, Transaction } from '../connection/database.ts'
import { joinSql, sql, sqlName } from '../connection/sql.ts'
import { timestampParam } from '../connection/values.ts'
import { cut, type Page, type Slice } from '../lists/pages.ts'

const COLUMNS = [
  'id',
  'user_id',
  'quota_id',
  'window_no',
  'window_start',
  'to_user_id',
  'to_quota_id',
  'units',
  'returned',
  'reason',
  'expires_at',
  'at',
  'actor',
] as const satisfies readonly (keyof Transfer)[]

const TRANSFER_COLUMNS = joinSql(COLUMNS.map(sqlName))

export async function insertTransfer(tx: Transaction, transfer: Transfer, requestId: string): Promise<void> {
  const { window_start, expires_at, at } = transfer
  const row = {
    ...transfer,
    shard: shardOf(transfer.user_id),
    window_start: timestampParam(window_start),
    expires_at: timestampParam(expires_at),
    at: timestampParam(at),
    request_id: requestId,
  }
  await tx.query({
    text: sql`insert into transfer (shard, ${TRANSFER_COLUMNS}, request_id)
           select shard, ${TRANSFER_COLUMNS}, request_id from json_populate_record(null::transfer, $1::json)`,
    values: [JSON.stringify(row)],
  })
}

/** A transfer by its id, which names the giver's shard. `lock`: until the transaction ends. */
export async function findTransfer(db: Queryable, id: number, lock: 'lock' | '' = ''): Promise<Transfer | undefined> {
  const [transfer] = await db.query<Transfer>({
    text: sql`select ${TRANSFER_COLUMNS} from transfer where shard = $1 and id = $2
           ${lock === 'lock' ? sql`for update` : sql``}`,
    values: [shardOfQuota(id), id],
  })
  return transfer
}

export async function setReturned(tx: Transaction, { id, returned }: Transfer): Promise<void> {
  await tx.query({
    text: sql`update transfer set returned = $3 where shard = $1 and id = $2`,
    values: [shardOfQuota(id), id, returned],
  })
}

/** A page of the transfers from or to a user, or of all users, newest first. */
export async function listTransfers(
  db: Queryable,
  { user_id }: { user_id?: number },
  { after = MAX_INTEGER, size }: Page<number>,
): Promise<Slice<Transfer, number>> {
  const page = sql`id < $1 order by id desc limit $2`
  const all = sql`select ${TRANSFER_COLUMNS} from transfer where ${page}`
  const ofUser = sql`select ${TRANSFER_COLUMNS} from (
        (select ${TRANSFER_COLUMNS} from transfer where shard = $3 and user_id = $4 and ${page})
        union
        (select ${TRANSFER_COLUMNS} from transfer where to_user_id = $4 and ${page})
      ) t order by id desc limit $2`
  const values = [after, size + 1, ...(user_id === undefined ? [] : [shardOf(user_id), user_id])]
  return cut(await db.query<Transfer>({ text: user_id === undefined ? all : ofUser, values }), size, ({ id }) => id)
}

/**
 * Locks the reservation on the giver's side, whose `seq` this resolves to, so that retention does not remove it meanwhile; undefined once it
 * has.
 */
export async function lockBooking(tx: Transaction, userId: number, id: string): Promise<number | undefined> {
  const [row] = await tx.query<{ seq: number }>({
    text: sql`select seq from reservation where shard = $1 and user_id = $2 and id = $3 for update`,
    values: [shardOf(userId), userId, id],
  })
  return row?.seq
}

/** Takes units out of what removed reservations used of a window, forced or not. */
export async function unarchive(
  tx: Transaction,
  { quota_id, window_no }: Pick<Transfer, 'quota_id' | 'window_no'>,
  units: number,
  isForced = false,
): Promise<void> {
  await tx.query({
    text: sql`update archive set used = used - $4, forced = forced - $5 where shard = $1 and quota_id = $2 and window_no = $3`,
    values: [shardOfQuota(quota_id), quota_id, window_no, units, isForced ? units : 0],
  })
}

/** The quotas of a user that began with units which another had used. */
export function begunWith(tx: Transaction, userId: number, quotaId: number): Promise<Pick<Quota, 'user_id' | 'id'>[]> {
  return tx.query<Pick<Quota, 'user_id' | 'id'>>({
    text: sql`select user_id, id from quota where shard = $1 and user_id = $2 and deleted_at is null
           and coalesce(former, plan) -> 'carried_from' @> $3::jsonb`,
    values: [shardOf(userId), userId, JSON.stringify([{ quota_id: quotaId }])],
  })
}

/** Takes units out of those that a quota began with, which is booked as a reservation of the service's own. */
export async function returnOpening(
  tx: Transaction,
  { user_id, id }: Pick<Quota, 'user_id' | 'id'>,
  units: number,
  now: EpochMs,
): Promise<void> {
  const rows = await tx.query({
    text: sql`update reservation set refunded = refunded + $4, seq = seq + 1, changed_at = $5
           where shard = $1 and user_id = $2 and id = $3 returning 1`,
    values: [shardOf(user_id), user_id, openingIdOf(id), units, timestampParam(now)],
  })
  if (rows.length === 0) await unarchive(tx, { quota_id: id, window_no: 0 }, units, true)
}

/** Locks a window that was closed; false once retention has removed it. */
export async function lockWindow(
  tx: Transaction,
  { quota_id, window_no }: Pick<Transfer, 'quota_id' | 'window_no'>,
): Promise<boolean> {
  const rows = await tx.query({
    text: sql`select from quota_window where shard = $1 and quota_id = $2 and window_no = $3 for update`,
    values: [shardOfQuota(quota_id), quota_id, window_no],
  })
  return rows.length > 0
}
