/**
 * The tables that the proofs over a range of users share: its quotas, and its windows beside what their ledger holds. The
 * ledger is read once for all proofs, since that is most of the work.
 */
import { type Sql, sql } from '../connection/sql.ts'

/** SQL: that a row belongs to a user of the range. */
export const IN_RANGE = sql`shard = $1 and user_id > $2 and user_id <= $3`

/** The same in the words of `reservation_of_user`: the key of the ledger names the user last. */
const IN_RANGE_OF_INDEX = sql`shard = $1 and -user_id < -$2::bigint and -user_id >= -$3::bigint`

/** SQL: that all changes of a quota are stored. Without the record of its creation, others may be missing, too. */
export const hasChanges = (quotaId: Sql) =>
  sql`exists (select from quota_change c where c.shard = $1 and c.quota_id = ${quotaId} and c.version = 1)`

const OF_QUOTA = sql`user_id, id as quota_id, kind, rollover_limit, deleted_at, expires_at, window_no, window_start, "limit",
  overage_limit, rolled_over, used, reserved`

/** SQL: the units of a reservation are what its rate says, but for those that a forced commit has added: all it asked for, or whole segments. */
export const IS_PRICED = sql`coalesce(price is null or (
    select asked = of_price[1] * of_price[4] + of_price[5] and of_price[1] > 0 and (
      units = asked or coalesce(retaken, false) or (
        allow_partial and of_price[4] > 0 and units < asked and units > of_price[5] and (units - of_price[5]) % of_price[4] = 0)
    ) from (select string_to_array(price, ' ')::bigint[] as of_price) p
  ), false)`

/**
 * Computes what a reservation counts independently of `countsOf`. The quotas of the users come in two halves, because
 * no index holds both the deleted ones and the others.
 *
 * A draw is six numbers from `draws[i]`: quota, kind, window, its start, from, to. The kinds: 0 a grant, 1 a cap, 2 a cap on messages; 3 and 4
 * are caps as 1 and 2 that count each value by itself, of which `value-counters.ts` proves the counters. A grant's range must begin
 * where that of the grant before it ends, and the last one must end with the units, unless force left a rest unfunded. A
 * cap's range is all units, or all messages. A reservation without draws has one row here too, in which all of that is null.
 *
 * `forced` is null where it is not known: in rows that were written before it was recorded. `verified` is how
 * many reservations were verified whose first unit the grant pays.
 */
export const TABLES = sql`
  mine as materialized (
    select ${OF_QUOTA} from quota where ${IN_RANGE} and deleted_at is null
    union all
    select ${OF_QUOTA} from quota where ${IN_RANGE} and deleted_at is not null
  ), counted as (
    select user_id, quota_id, kind, rollover_limit, window_no, window_start, "limit", overage_limit, rolled_over, used,
      reserved, null::bigint as carried
    from mine
    union all
    select mine.user_id, mine.quota_id, mine.kind, mine.rollover_limit, w.window_no, w.window_start, w."limit",
      w.overage_limit, w.rolled_over, w.used, w.reserved, w.carried
    from mine join quota_window w on w.shard = $1 and w.quota_id = mine.quota_id
  ), line as (
    select user_id, id, units, coalesce(messages, 1) as messages, draws, force, force or retaken as forced, verified,
      committed - refunded as spent,
      units - released - refunded as held,
      least(committed, released, refunded, committed - refunded, units - committed - released, units - 1) >= 0
        and cardinality(draws) % 6 = 0 and ${IS_PRICED} as is_within_bounds,
      generate_series(1, greatest(cardinality(draws), 1), 6) as i
    from reservation where ${IN_RANGE_OF_INDEX}
  ), entry as (
    select user_id, id, i = 1 as is_first, draws[i] as quota_id, least(draws[i + 1], 1) as kind, draws[i + 2] as window_no,
      case when draws[i + 1] < 2 then greatest(0, least(draws[i + 5], spent) - draws[i + 4])
        when draws[i + 1] = 2 and spent > 0 then draws[i + 5] else 0 end as used,
      case when draws[i + 1] < 2 then greatest(0, least(draws[i + 5], held) - greatest(draws[i + 4], spent))
        when draws[i + 1] = 2 and spent <= 0 and held > 0 then draws[i + 5] else 0 end as reserved,
      forced, (verified and i = 1 and draws[2] = 0)::int as verified,
      is_within_bounds and case draws[i + 1]
        when 0 then coalesce(draws[i - 5], 0) = 0 and draws[i + 4] = coalesce(draws[i - 1], 0) and draws[i + 4] < draws[i + 5]
          and (draws[i + 7] is not distinct from 0 or draws[i + 5] = units or (force and draws[i + 5] < units))
        when 1 then draws[i + 4] = 0 and draws[i + 5] = units and (i > 1 or force)
        when 2 then draws[i + 4] = 0 and draws[i + 5] = messages and (i > 1 or force)
        when 3 then draws[i + 4] = 0 and draws[i + 5] = units and (i > 1 or force)
        when 4 then draws[i + 4] = 0 and draws[i + 5] = messages and (i > 1 or force)
        else i = 1 and force and cardinality(draws) = 0
      end as is_covered
    from line
    union all
    select mine.user_id, null, false, a.quota_id, null, a.window_no, part.used, 0, part.forced, part.verified, true
    from mine join archive a on a.shard = $1 and a.quota_id = mine.quota_id,
      lateral (
        values (a.used - coalesce(a.forced, 0), case when a.forced is not null then false end, a.verified),
          (coalesce(a.forced, 0), true, 0)
      ) part (used, forced, verified)
  ), ledger as (
    select user_id, quota_id, window_no, sum(used)::bigint as used, sum(reserved)::bigint as reserved,
      coalesce(sum(used + reserved) filter (where forced), 0)::bigint as forced,
      coalesce(sum(used + reserved) filter (where forced is null), 0)::bigint as uncertain,
      sum(verified)::bigint as verified,
      count(*) filter (where is_first) as reservations,
      count(*) filter (where not is_covered) as uncovered, min(id) filter (where not is_covered) as first_uncovered,
      min(kind) as lowest_kind, max(kind) as highest_kind
    from entry group by user_id, quota_id, window_no
  ), compared as materialized (
    select user_id, quota_id, window_no, counted.kind, counted.rollover_limit, counted.window_start, counted."limit",
      counted.overage_limit, counted.rolled_over, counted.carried, counted.used, counted.reserved,
      coalesce(ledger.used, 0) as ledger_used, coalesce(ledger.reserved, 0) as ledger_reserved,
      coalesce(ledger.forced, 0) as forced, coalesce(ledger.uncertain, 0) as uncertain,
      coalesce(ledger.verified, 0) as verified,
      coalesce(ledger.reservations, 0) as reservations, coalesce(ledger.uncovered, 0) as uncovered,
      ledger.first_uncovered, ledger.lowest_kind, ledger.highest_kind
    from counted full join ledger using (user_id, quota_id, window_no)
  )`
