import { RESERVATION_COLUMNS } from './rows.ts'

/**
 * The statements of the engine. Each names its shard in a scalar parameter and takes arrays, so that a batch is one
 * statement per table touched however many commands it holds, and is carried out by one node of a cluster. Arrays are
 * sorted by user and id: unsorted ones met in deadlocks.
 *
 * Every update is guarded by `seq` and by count: if another has written one of the rows, the division by zero ends the
 * transaction. Counters move by differences; only a quota that rolls gets new ones.
 */
const ALLOWANCE = [
  'id',
  'user_id',
  'seq',
  'kind',
  '"limit"',
  'overage_limit',
  'rollover_limit',
  'priority',
  'period',
  'time_zone',
  'starts_at',
  'expires_at',
  'enabled',
  "array_to_string(countries, ' ')",
  "array_to_string(message_types, ' ')",
  'window_no',
  'window_start',
  'window_end',
  'used',
  'reserved',
  'rolled_over',
  'created_at',
  'deleted_at',
  "array_to_string(alert_at, ' ')",
  "array_to_string(alerted, ' ')",
].join(', ')

/** As `readReservation` reads them. */
const RESERVATION = ['seq', ...RESERVATION_COLUMNS]
  .map(name => (name === 'draws' ? "array_to_string(r.draws, ' ')" : `r.${name}`))
  .join(', ')

/** Fails unless as many rows were written as were meant. */
const guarded = (update: string, count: string) =>
  `with written as (${update} returning 1) select 1 / ((select count(*) from written) = ${count}::int)::int`

export const LEDGER_STATEMENTS = {
  'lock-accounts': 'select 1 from account where shard = $1 and user_id = any($2::bigint[]) order by user_id for update',

  // After a commit of unknown outcome: an answer that settles it must come from a transaction that itself writes, for
  // with a synchronous standby a mere read proves nothing.
  'write-accounts': `insert into account (shard, user_id) select $1::smallint, u from unnest($2::bigint[]) u order by u
    on conflict (shard, user_id) do update set live = account.live`,

  // Whatever was sent before from memory, and may reach the server yet, then finds other numbers than it expects: or a
  // caller would be told of a denial, and be charged behind that.
  'fence-quotas': `update quota set seq = seq + 1
    where shard = $1 and user_id = any($2::bigint[]) and deleted_at is null`,

  'load-quotas': `select ${ALLOWANCE} from quota
    where shard = $1 and user_id = any($2::bigint[]) and deleted_at is null
      and (expires_at is null or expires_at > $3::timestamptz)
    order by user_id, id for update`,

  // For the optimistic way, which guards what it has read instead of locking it.
  'look-at-quotas': `select ${ALLOWANCE} from quota
    where shard = $1 and user_id = any($2::bigint[]) and deleted_at is null
      and (expires_at is null or expires_at > $3::timestamptz)
    order by user_id, id`,

  // Deleted and ended ones that reservations still draw on.
  'load-drawn': `select ${ALLOWANCE} from quota where shard = $1 and id = any($2::bigint[]) order by user_id, id for update`,

  'load-reservations': `select ${RESERVATION}
    from unnest($2::bigint[], $3::text[]) k (user_id, id)
    join reservation r on r.user_id = k.user_id and r.id = k.id where r.shard = $1`,

  // What the decisions looked at and left alone must be as they saw it, too.
  'check-quotas': `select 1 / ((
      select count(*) from unnest($2::bigint[], $3::bigint[], $4::bigint[]) k (user_id, id, seq)
      join quota q on q.user_id = k.user_id and q.id = k.id and q.seq = k.seq where q.shard = $1
    ) = $5::int)::int`,

  'move-counters': guarded(
    `update quota q set used = q.used + k.used, reserved = q.reserved + k.reserved, seq = q.seq + 1
     from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) k (user_id, id, seq, used, reserved)
     where q.shard = $1 and q.user_id = k.user_id and q.id = k.id and q.seq = k.seq`,
    '$7',
  ),

  'roll-quotas': guarded(
    `update quota q set used = k.used, reserved = k.reserved, rolled_over = k.rolled_over, window_no = k.window_no,
       window_start = k.window_start, window_end = k.window_end, alerted = '{}', seq = q.seq + 1
     from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
       $9::timestamptz[], $10::timestamptz[])
       k (user_id, id, seq, used, reserved, rolled_over, window_no, window_start, window_end)
     where q.shard = $1 and q.user_id = k.user_id and q.id = k.id and q.seq = k.seq`,
    '$11',
  ),

  // In the transaction that gave the quotas this `seq`.
  'mark-alerted': guarded(
    `update quota q set alerted = k.alerted::smallint[]
     from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) k (user_id, id, seq, alerted)
     where q.shard = $1 and q.user_id = k.user_id and q.id = k.id and q.seq = k.seq`,
    '$6',
  ),

  'close-windows': `insert into quota_window (shard, quota_id, window_no, window_start, window_end, "limit",
      overage_limit, rolled_over, used, reserved, carried)
    select $1::smallint, * from unnest($2::bigint[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::bigint[],
      $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])`,

  'correct-windows': guarded(
    `update quota_window w set used = w.used + k.used, reserved = w.reserved + k.reserved
     from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) k (quota_id, window_no, used, reserved)
     where w.shard = $1 and w.quota_id = k.quota_id and w.window_no = k.window_no`,
    '$6',
  ),

  'settle-reservations': guarded(
    `update reservation r set committed = k.committed, released = k.released, refunded = k.refunded,
       expired = k.expired, seq = r.seq + 1, changed_at = $9::timestamptz
     from unnest($2::bigint[], $3::text[], $4::int[], $5::bigint[], $6::bigint[], $7::bigint[], $8::boolean[])
       k (user_id, id, seq, committed, released, refunded, expired)
     where r.shard = $1 and r.user_id = k.user_id and r.id = k.id and r.seq = k.seq`,
    '$10',
  ),

  // A third less work for PostgreSQL than `insert … select … from unnest(…, …)`, which keeps a store for each array.
  'add-reservations': `insert into reservation (shard, user_id, id, op, asked, country, message_type, allow_partial,
      force, units, committed, released, refunded, on_expiry, expired, draws, expires_at, created_at, changed_at)
    values ($1::smallint, unnest($2::bigint[]), unnest($3::text[]), unnest($4::text[]), unnest($5::bigint[]),
      unnest($6::text[]), unnest($7::text[]), unnest($8::boolean[]), unnest($9::boolean[]), unnest($10::bigint[]),
      unnest($11::bigint[]), unnest($12::bigint[]), unnest($13::bigint[]), unnest($14::text[]), unnest($15::boolean[]),
      unnest($16::text[])::bigint[], unnest($17::timestamptz[]), $18::timestamptz, $18::timestamptz)`,

  'describe-quotas': `select id, version, name, external_ref, metadata, created_at, created_by, updated_at, updated_by,
      expiry_emitted
    from quota where shard = $1 and id = any($2::bigint[])`,

  // Always last, and only by who has something to tell: the lock is held to the commit.
  'take-numbers': 'update shard_head set last_event = last_event + $2::bigint where shard = $1',

  'add-events': `insert into event (shard, number, user_id, sequence, type, at, data)
    select $1::smallint, h.last_event + k.behind, k.user_id,
      k.nth + coalesce((select max(e.sequence) from event e where e.shard = $1 and e.user_id = k.user_id), 0),
      k.type, $7::timestamptz, k.data::jsonb
    from shard_head h, unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
      k (behind, user_id, nth, type, data)
    where h.shard = $1`,

  // A row a batch, whatever it holds. Nobody waits for it, and it waits for nobody.
  'add-usage': `insert into usage_pending
      (shard, number, bucket, users, quotas, countries, message_types, kinds, units, messages)
    values ($1, nextval('usage_number'), $2, $3, $4, $5, $6, $7, $8, $9)`,

  'all-accounts': 'select user_id from account where shard = $1 and user_id = any($2::bigint[])',
  // Those of some users whom nobody holds just now.
  'free-accounts': `select user_id from account where shard = $1 and user_id = any($2::bigint[])
    order by user_id for update skip locked`,
  'free-quotas': `select user_id, id from quota where shard = $1 and user_id = any($2::bigint[]) and deleted_at is null
    order by user_id, id for update skip locked`,
  'all-quotas': `select user_id, id from quota where shard = $1 and user_id = any($2::bigint[]) and deleted_at is null`,
}
