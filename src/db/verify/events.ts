import { sql } from '../connection/sql.ts'
import { IN_RANGE } from './ledger.ts'
import type { RangeProof } from './proof.ts'

/** The sequences of a user's events have no gap. The first events may have been removed. */
export const sequences: RangeProof = {
  name: 'sequences',
  checked: sql`(select coalesce(sum(events), 0)::bigint from sequence)`,
  exceptions: sql`
    select user_id, null::bigint as quota_id, format('User %s: events %s to %s are %s, and should be %s.', user_id, first, last,
      events, last - first + 1) as message
    from sequence where events <> last - first + 1`,
}

export const SEQUENCE_TABLE = sql`
  sequence as materialized (
    select user_id, count(*) as events, min(sequence) as first, max(sequence) as last
    from event where ${IN_RANGE} group by user_id
  )`

/**
 * The numbers of a shard's events have no gap up to the last one, and there is none beyond it: `$1` the shard, numbers above
 * `$2` and up to `$3`. It takes any snapshot, because numbers are in the order of commits and events never change.
 */
export const NUMBERS = sql`
  select 'events' as proof, events as checked, 0::bigint as not_provable, last_event,
    case when events <> upper - lower or beyond then json_build_array(json_build_object('user_id', null, 'quota_id', null,
      'message', case when events <> upper - lower
        then format('Shard %s: %s of the events %s to %s are missing, the first is %s.', $1::int, upper - lower - events, lower + 1,
          upper, (select min(n) from generate_series(lower + 1, upper) n
                  where not exists (select from event e where e.shard = $1 and e.number = n)))
        else format('Shard %s: there are events after %s, the last that is counted.', $1::int, last_event) end))
      else '[]' end as differences
  from (
    select last_event, lower, upper,
      (select count(*) from event e where e.shard = $1 and e.number > lower and e.number <= upper) as events,
      exists (select from event e where e.shard = $1 and e.number > last_event) as beyond
    from shard_head h, lateral (
      select greatest($2::bigint, h.pruned) as lower, greatest($2::bigint, h.pruned, least($3::bigint, last_event)) as upper
    ) page
    where h.shard = $1
  ) counted`
