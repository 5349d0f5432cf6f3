import { type Shard, shardOfQuota } from '../../domain/basics/shard.ts'
import { shardFilter } from '../cluster/parts.ts'
import type { Transaction } from '../connection/database.ts'
import { type Sql, sql } from '../connection/sql.ts'
import type { Conclusion, RangeProof } from './proof.ts'

/** The reservations by which givers have their transfers: their ids are from the first of these to before the second. */
const BOOKINGS = sql`r.shard = $1 and r.id >= '_transfer:' and r.id < '_transfer;'`
const usersOf = (table: Sql) => sql`${table}.user_id > $2 and ${table}.user_id <= $3`

/**
 * Each transfer is booked on the giver's side with its units and what was given back, and no such reservation is of no transfer. Not
 * provable once retention has removed the reservation.
 */
export const transfers: RangeProof = {
  name: 'transfers',
  checked: sql`(select count(*) from transfer t where t.shard = $1 and ${usersOf(sql`t`)})`,
  exceptions: sql`
    select coalesce(t.user_id, r.user_id) as user_id, t.quota_id, case
      when t.id is null then format('Reservation "%s" of user %s belongs to no transfer.', r.id, r.user_id)
      when r.id is not null then format('Transfer %s of user %s: %s units moved and %s were given back; its reservation has %s and %s.',
        t.id, t.user_id, t.units, t.returned, r.committed, r.refunded) end as message
    from (
      select r.user_id, r.id, r.committed, r.refunded from reservation r where ${BOOKINGS} and ${usersOf(sql`r`)}
    ) r full join (
      select t.user_id, t.quota_id, t.id, t.units, t.returned, '_transfer:' || t.id as booking
      from transfer t where t.shard = $1 and ${usersOf(sql`t`)}
    ) t on t.user_id = r.user_id and t.booking = r.id
    where (t.units, t.returned) is distinct from (r.committed, r.refunded)`,
}

/** Transfers that are compared with their receivers' grants at a time. */
const PAGE = 1_000

interface Row {
  id: number
  user_id: number
  quota_id: number
  to_user_id: number
  to_quota_id: number
  units: number
}

/**
 * The grant that a transfer made was made for its receiver, of its units. Not provable if its creation is not stored any more. A page of a shard: the
 * transfers above `after`.
 */
export async function receivers(
  tx: Transaction,
  shard: Shard,
  after: number,
): Promise<{ conclusion: Conclusion; last: number | null }> {
  const rows = await tx.query<Row>({
    text: sql`select id, user_id, quota_id, to_user_id, to_quota_id, units from transfer
           where shard = $1 and id > $2 and to_quota_id is not null order by id limit $3`,
    values: [shard, after, PAGE],
  })
  const ids = rows.map(({ to_quota_id }) => to_quota_id)
  const created = await tx.query<{ quota_id: number; user_id: number; limit: number | null }>({
    text: sql`select c.quota_id, (c.after ->> 'user_id')::bigint as user_id, (c.after ->> 'limit')::bigint as "limit"
           from unnest($1::smallint[], $2::bigint[]) k (shard, quota_id)
           join quota_change c on c.shard = k.shard and c.quota_id = k.quota_id and c.version = 1 ${shardFilter(tx, sql`c.shard`, sql`$1`)}`,
    values: [ids.map(shardOfQuota), ids],
  })
  const byId = new Map(created.map(one => [one.quota_id, one]))
  const differences = rows.flatMap(({ id, user_id, quota_id, to_user_id, to_quota_id, units }) => {
    const made = byId.get(to_quota_id)
    if (made === undefined || (made.limit === units && made.user_id === to_user_id)) return []
    const message = `Transfer ${id} of user ${user_id}: ${units} units went to user ${to_user_id} as quota ${to_quota_id}, which was made for user ${made.user_id} with ${made.limit}.`
    return [{ user_id, quota_id, message }]
  })
  const conclusion: Conclusion = {
    proof: 'transfers',
    checked: 0,
    not_provable: rows.length - byId.size,
    differences,
  }
  return { conclusion, last: rows.length === PAGE ? (rows.at(-1)?.id ?? null) : null }
}
