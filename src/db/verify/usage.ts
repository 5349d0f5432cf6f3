import { joinSql, sql, sqlInteger } from '../connection/sql.ts'
import { USAGE_KIND_CODES } from '../ledger/add-usage.ts'
import { ofShard } from '../usage/columns.ts'
import { IN_RANGE } from './ledger.ts'
import type { RangeProof } from './proof.ts'

/** Every table that usage is moved into, with the columns of `usage`. */
const USAGE_TABLES = [sql`usage`, sql`usage_day`, sql`usage_month`]

/** Batches of usage that are not rolled up yet, of up to a thousand commands each: of more, each range of users would read all. */
export const MAX_PENDING = 2_000

/**
 * What usage reports of a grant, committed less refunded, is what its windows used, without the units that it was created
 * with, and those that it handed on. No cap pays for anything. As many messages are verified as the ledger has verified reservations.
 *
 * Not provable: usage of quotas that are not stored any more, or whose creation is not; more than a lower bound where the oldest windows are not
 * stored any more; all of it while the usage rollup is far behind.
 */
export const usageIn = (store: { isCluster: boolean }): RangeProof => ({
  name: 'usage',
  checked: sql`(select count(*) from mine)`,
  exceptions: sql`
    with pending as materialized (
      select users, quotas, kinds, units, messages, shards from usage_pending p where ${ofShard(store, sql`$1`)} limit ${sqlInteger(MAX_PENDING + 1)}
    ), booked as (
      select user_id, quota_id, sum(units)::bigint as units, sum(verified)::bigint as verified from (
        ${joinSql(
          USAGE_TABLES.map(
            table => sql`select user_id, quota_id, committed - refunded as units, coalesce(verified_messages, 0) as verified
              from ${table} where ${IN_RANGE}`,
          ),
          sql` union all `,
        )}
        union all
        select e.user_id, e.quota_id, case e.kind when 0 then e.units when 1 then -e.units else 0 end,
          case e.kind when ${sqlInteger(USAGE_KIND_CODES.verified)} then e.messages else 0 end
        from pending p, unnest(p.users, p.quotas, p.kinds, p.units, p.messages, p.shards) e (user_id, quota_id, kind, units, messages, shard)
        where coalesce(e.shard, $1) = $1 and e.user_id > $2 and e.user_id <= $3
      ) both_parts where quota_id is not null group by user_id, quota_id having sum(units) <> 0 or sum(verified) <> 0
    ), spent as (
      select user_id, quota_id, kind, min(window_no) = 0 as is_complete,
        case kind when 'grant' then sum(used)::bigint else 0 end as units,
        sum(verified)::bigint as verified
      from compared where kind is not null group by user_id, quota_id, kind
    ), compared_usage as (
      select coalesce(spent.user_id, booked.user_id) as user_id, coalesce(spent.quota_id, booked.quota_id) as quota_id,
        spent.kind, is_complete, coalesce(booked.units, 0) as booked, spent.units as spent,
        coalesce(booked.verified, 0) as booked_verified, spent.verified,
        case when spent.units > 0 then (
          select case when coalesce(q.former, q.plan) is not null then coalesce((coalesce(q.former, q.plan) ->> 'carried')::bigint, 0) else (
            select (c.after ->> 'used')::bigint from quota_change c
            where c.shard = $1 and c.quota_id = spent.quota_id and c.version = 1
          ) end from quota q where q.shard = $1 and q.id = spent.quota_id
        ) end as opening,
        (
          select coalesce(sum(t.units - t.returned), 0)::bigint from transfer t where t.shard = $1 and t.quota_id = spent.quota_id
        ) as transferred,
        case when kind is null then (
          select q.user_id from quota q where q.shard = $1 and q.id = booked.quota_id
        ) end as owner
      from spent full join booked on booked.user_id = spent.user_id and booked.quota_id = spent.quota_id
    )
    select user_id, quota_id, case
      when (select count(*) from pending) > ${sqlInteger(MAX_PENDING)} then null
      when kind is null and owner is not null then
        format('User %s: usage reports %s units for quota %s, which belongs to user %s.', user_id, booked, quota_id, owner)
      when kind is null or (spent > 0 and opening is null) or (not is_complete and booked >= spent - coalesce(opening, 0) - transferred) then null
      when kind = 'cap' then
        format('Quota %s of user %s: usage reports %s units for it, and it is a cap.', quota_id, user_id, booked)
      else format('Quota %s of user %s: usage reports %s units, and its windows used %s, of which %s were used before its creation%s.',
        quota_id, user_id, booked, spent, coalesce(opening, 0),
        case when transferred > 0 then format(' and %s were transferred', transferred) end) end as message
    from compared_usage
    where (kind is null and booked <> 0) or booked <> spent - coalesce(opening, 0) - transferred or not is_complete
      or (select count(*) from pending) > ${sqlInteger(MAX_PENDING)}
    union all
    select user_id, quota_id, case
      when (select count(*) from pending) > ${sqlInteger(MAX_PENDING)} then null
      when is_complete or booked_verified < verified then
        format('Quota %s of user %s: usage reports %s verified messages, and %s of its reservations were verified.',
          quota_id, user_id, booked_verified, verified) end
    from compared_usage where kind is not null and booked_verified <> verified`,
})
