-- The schema. This file never changes once it has landed: a later change is a further file (see checksums.txt).
--
-- Rules that hold for every table:
-- - The key of a table that holds a user's data starts with `shard`, one of 64 buckets of the user id
--   (src/domain/shard.ts). The tables can be distributed over a cluster unchanged.
-- - No triggers, no procedures and no default that reads the clock: the service passes times as parameters.
-- - Nothing is counted or aggregated in the request path: counters and totals lie beside the data they count.
-- - No index holds a column that a send changes, so those updates stay heap-only (HOT). `fillfactor` leaves the room.
--
-- CHECK constraints are sparse on purpose. PostgreSQL prepares every CHECK of a table again for each statement that
-- writes to it, whichever columns it writes: 19 on `quota` and 11 on `reservation` were a third of the cost of a batch
-- of 16 reservations (docs/decisions/0011-checks-and-the-hot-path.md). So domains guard the columns that
-- administrators define: PostgreSQL evaluates them only where that column is written. The counters of a table share one
-- CHECK. The service's own rules guard the rest: columns that only the engine writes, and rules between columns.

-- Quotas -------------------------------------------------------------------------------------------------------------

create domain quota_kind as text check (value in ('grant', 'cap'));
create domain quota_period as text check (value in ('hour', 'day', 'week', 'month', 'year'));
create domain quota_units as bigint check (value between 0 and 1000000000000);
create domain quota_priority as smallint check (value between 0 and 255);
create domain quota_version as bigint check (value >= 1);
-- Countries or message types; null means all, so an empty list would mean none.
create domain scope as text[] check (cardinality(value) > 0);

-- A quota's id is nextval × 64 + shard.
create sequence quota_number as bigint;

-- One row per user who ever had a quota. Administrators' changes lock it before the user's quotas; the engine locks it
-- too when it does not decide from memory. Rows are never removed.
create table account (
  shard   smallint not null,
  user_id bigint   not null check (user_id >= 0),
  -- Quotas that are neither deleted nor expired, as of the last administrator's change. One user has at most 200.
  live    integer  not null default 0 check (live between 0 and 200),
  primary key (shard, user_id)
) with (fillfactor = 90);

-- One row per quota: its definition and the counters of its current window, so that a send reads, locks and writes one
-- place. Administrators insert rows and change definitions; the engine changes counters and windows. Deleted quotas
-- stay for audit.
create table quota (
  shard           smallint      not null,
  id              bigint        not null,
  user_id         bigint        not null,
  -- Grows with every write to the row, and with an administrator's change of any quota of the user: the engine compares
  -- it before it writes what it decided from memory.
  seq             bigint        not null default 0,
  -- Grows with every administrator's change; the ETag.
  version         quota_version not null default 1,

  -- The definition.
  kind            quota_kind    not null,
  name            text,
  -- Units per window; null is unlimited.
  "limit"         quota_units,
  -- Null: the quota has one window, which never closes.
  period          quota_period,
  time_zone       text          not null,
  rollover_limit  quota_units   not null,
  overage_limit   quota_units   not null,
  priority        quota_priority not null,
  starts_at       timestamptz   not null,
  expires_at      timestamptz,
  countries       scope,
  message_types   scope,
  -- Percents of use at which quota.threshold_reached is emitted, ascending.
  alert_at        smallint[]    not null,
  enabled         boolean       not null,
  -- By bytes, like every text in a unique index: a new version of the system's collations must not break the index.
  external_ref    text          collate "C",
  metadata        jsonb         not null,

  -- The current window. `window_end` is the calendar's next boundary, fixed when the window opens.
  window_no       bigint        not null default 0,
  window_start    timestamptz   not null,
  window_end      timestamptz,
  used            bigint        not null default 0,
  reserved        bigint        not null default 0,
  rolled_over     bigint        not null default 0,

  created_at      timestamptz   not null,
  created_by      text          not null,
  updated_at      timestamptz   not null,
  updated_by      text          not null,
  deleted_at      timestamptz,

  -- The percents of `alert_at` for which an event was emitted in the current window.
  alerted         smallint[]    not null default '{}',
  -- Whether quota.expired was emitted. An administrator's change that revives the quota sets it back. The expiry
  -- notifier sets it without a new `seq`, since no decision depends on it.
  expiry_emitted  boolean       not null default false,

  primary key (shard, id),
  foreign key (shard, user_id) references account (shard, user_id),
  constraint quota_counters check (used >= 0 and reserved >= 0 and rolled_over >= 0)
) with (fillfactor = 70);

-- Each list and summary has an index to walk (docs/plans.md). Deleted quotas accumulate, so they have indexes of their
-- own and cost other readers nothing.
create index quota_of_user on quota (shard, user_id, id) where deleted_at is null;
create index quota_deleted_of_user on quota (shard, user_id, id) where deleted_at is not null;
create unique index quota_external_ref on quota (shard, user_id, external_ref)
  where external_ref is not null and deleted_at is null;
-- Lists over all users, in the two orders that the API offers. 'infinity' stands for "never expires". The index
-- includes `expires_at` because PostgreSQL cannot count expired quotas by an index-only scan over the expression alone.
create index quota_list_by_id on quota (id) where deleted_at is null;
create index quota_list_by_expiry on quota ((coalesce(expires_at, 'infinity'::timestamptz)), id) include (expires_at)
  where deleted_at is null;
create index quota_list_deleted_by_id on quota (id) where deleted_at is not null;
create index quota_list_deleted_by_expiry on quota ((coalesce(expires_at, 'infinity'::timestamptz)), id)
  where deleted_at is not null;
-- Filters over all users that select few quotas: without these, a page would read the whole table.
create index quota_list_caps on quota (id) where kind = 'cap' and deleted_at is null;
create index quota_list_suspended on quota (id) where not enabled and deleted_at is null;
create index quota_list_by_start on quota (starts_at) where deleted_at is null;
-- The expiry notifier's work, and nothing else: its cost does not grow with the number of expired quotas.
create index quota_expiry_not_emitted on quota (expires_at) where not expiry_emitted and deleted_at is null;

-- One row per closed window, written by the engine or an administrator's change. A settlement that belongs to a closed
-- window corrects it. Idle windows leave no row: `window_no` skips them.
create table quota_window (
  shard         smallint    not null,
  quota_id      bigint      not null,
  window_no     bigint      not null,
  window_start  timestamptz not null,
  window_end    timestamptz not null,
  "limit"       bigint,
  overage_limit bigint      not null,
  rolled_over   bigint      not null,
  used          bigint      not null check (used >= 0),
  reserved      bigint      not null check (reserved >= 0),
  -- Units carried into the next window, computed once, when the window closed.
  carried       bigint      not null check (carried >= 0),
  primary key (shard, quota_id, window_no)
) with (fillfactor = 80);

-- The audit log: one row per administrator's change, written in the transaction of the change and never removed.
create table quota_change (
  shard      smallint    not null,
  quota_id   bigint      not null,
  version    bigint      not null,
  action     text        not null check (action in ('created', 'updated', 'deleted')),
  at         timestamptz not null,
  actor      text        not null,
  request_id text        not null,
  -- The quota as the API showed it before and after.
  before     jsonb,
  after      jsonb,
  -- The administrator's own words; only adjustments have them.
  reason     text,
  primary key (shard, quota_id, version)
);

-- Answers to creations and adjustments that carried an Idempotency-Key, kept for a day at least; each new one removes
-- the old ones of its shard. `shard` is a bucket of the key, not of the user: the service must find the key when it
-- comes again with another user's body.
create table idempotency (
  shard        smallint    not null,
  principal    text        not null,
  key          text        collate "C" not null,
  request      jsonb       not null,
  created_at   timestamptz not null,
  -- The quota as the first call got it.
  answer       jsonb       not null,
  primary key (shard, principal, key)
);
create index idempotency_age on idempotency (shard, created_at);

-- The ledger ---------------------------------------------------------------------------------------------------------

-- One row per message or campaign. The counters of a quota's window equal the sums over its reservations and what
-- `archive` holds of removed ones; `sms-quota verify` proves it. The engine writes rows; retention removes settled rows
-- that have not changed for 35 days (by default).
create table reservation (
  shard         smallint    not null,
  user_id       bigint      not null,
  -- The sender's own id.
  id            text        collate "C" not null,
  seq           integer     not null default 0,

  -- The request.
  op            text        not null,
  asked         bigint      not null,
  country       text,
  message_type  text,
  allow_partial boolean     not null,
  force         boolean     not null,

  -- What was granted, and what became of it.
  units         bigint      not null,
  committed     bigint      not null,
  released      bigint      not null,
  refunded      bigint      not null,
  on_expiry     text        not null,
  expired       boolean     not null,
  -- Six numbers a draw: quota id, kind (0 grant, 1 cap), window number, window start (ms), from, to.
  draws         bigint[]    not null,

  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  changed_at    timestamptz not null,

  primary key (shard, user_id, id),
  constraint reservation_units check (
    units >= 1 and committed >= 0 and released >= 0 and refunded >= 0
    and committed + released <= units and refunded <= committed)
) with (fillfactor = 50);
-- The sweeper finds due reservations by it, retention finds old ones. It is not partial: a reservation that left the
-- index when it settles would keep that update from being heap-only.
create index reservation_expiry on reservation (shard, expires_at);
-- Lists, newest first: of one user, and of all users. Without the first, PostgreSQL would read and sort all
-- reservations of a user with millions; without the second, all there are. No update changes these columns. Neither
-- index holds the id, which is most of a row's key: reservations of the same millisecond are sorted when they are read.
-- New entries of the second go to its end, where the page is in memory anyway.
--
-- Both begin with an expression that no other statement uses. Otherwise the planner may take the first to look up
-- reservations by user and id, which it did, at a ruinous cost for users with millions, and the second for the page of
-- one user.
create index reservation_of_user on reservation (shard, (-user_id), created_at);
create index reservation_by_time on reservation ((created_at at time zone 'UTC'));

-- One row per window of a quota from which retention has removed reservations: the sum of what they used.
create table archive (
  shard     smallint not null,
  quota_id  bigint   not null,
  window_no bigint   not null,
  used      bigint   not null check (used >= 0),
  primary key (shard, quota_id, window_no)
) with (fillfactor = 80);

-- Usage --------------------------------------------------------------------------------------------------------------

-- What users sent and were denied. It outlives the reservations that it came from; rows are never removed. The usage
-- rollup writes it. A row is a quarter of an hour (UTC) of one user, by the paying quota, the country and the message
-- type. Every time zone in use is a multiple of a quarter of an hour away from UTC, so an hour or a day of any zone is
-- a sum of rows.
create table usage (
  shard              smallint    not null,
  user_id            bigint      not null,
  bucket             timestamptz not null,
  -- The grant that paid; null if none did, or the send was denied.
  quota_id           bigint,
  country            text        collate "C",
  message_type       text        collate "C",
  -- Units, and messages beside them. A refund counts in the bucket of the refund, not in that of the send.
  committed          bigint      not null check (committed >= 0),
  committed_messages bigint      not null check (committed_messages >= 0),
  refunded           bigint      not null check (refunded >= 0),
  refunded_messages  bigint      not null check (refunded_messages >= 0),
  denied             bigint      not null check (denied >= 0),
  denied_messages    bigint      not null check (denied_messages >= 0),
  unique nulls not distinct (shard, user_id, bucket, quota_id, country, message_type)
) with (fillfactor = 80);
-- Reports over all users.
create index usage_by_time on usage (bucket);

create sequence usage_number as bigint;

-- Usage that is not rolled up yet: the engine writes one row per batch, whose arrays have the same length. To write
-- rows of `usage` would cost a batch several times as much. The usage rollup moves the rows within seconds; readers add
-- both tables.
create table usage_pending (
  shard         smallint    not null,
  number        bigint      not null,
  bucket        timestamptz not null,
  users         bigint[]    not null,
  quotas        bigint[]    not null,
  countries     text[]      not null,
  message_types text[]      not null,
  -- 0 committed, 1 refunded, 2 denied.
  kinds         smallint[]  not null,
  units         bigint[]    not null,
  messages      int[]       not null,
  primary key (shard, number)
) with (
  -- Rows live for seconds: autovacuum goes by their number, not by the size of the table.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20000
);

-- Events -------------------------------------------------------------------------------------------------------------

-- One row per shard: the number of its last event, and how many quotas it holds, so that the total of a list needs no
-- count. A transaction updates it in its last statements and holds the lock until COMMIT. So the order of event numbers
-- is the order of commits.
create table shard_head (
  shard          smallint primary key,
  last_event     bigint   not null default 0,
  grants         bigint   not null default 0 check (grants >= 0),
  caps           bigint   not null default 0 check (caps >= 0),
  deleted_grants bigint   not null default 0 check (deleted_grants >= 0),
  deleted_caps   bigint   not null default 0 check (deleted_caps >= 0)
) with (fillfactor = 10);
insert into shard_head (shard) select generate_series(0, 63);

-- The outbox: every event, written in the transaction that it reports. Numbers have no gaps, and a reader that has seen
-- number n never finds a new event before n.
create table event (
  shard    smallint    not null,
  number   bigint      not null,
  -- Null if the event concerns no user (webhook.disabled).
  user_id  bigint,
  -- Counts the events of the user, from 1.
  sequence bigint,
  type     text        not null,
  at       timestamptz not null,
  data     jsonb       not null,
  primary key (shard, number)
);
create unique index event_of_user on event (shard, user_id, sequence);
-- Events are written nearly in the order of time, so a BRIN index finds those since a time for almost no space.
create index event_age on event using brin (at);
-- Quotas that reached a percent, newest first: for administrators who watch who is about to run out. Only events with a
-- percent have an entry, so other events pay nothing. The condition names what such an event holds and not its type,
-- which other statements name too: the planner could take the index for the feed and read it from end to end per shard.
create index event_of_percent on event (at) where data ? 'percent';

-- Webhooks -----------------------------------------------------------------------------------------------------------
-- All rows of a webhook lie in the shard of the webhook (id modulo 64), whichever shard an event has: deliveries that
-- are claimed together lie together.

-- A webhook's id is nextval × 64 + shard; the shards take turns.
create sequence webhook_number as bigint;

-- Where events are sent. Administrators write it, at most 100 rows; the dispatcher notes failures and disables.
create table webhook (
  shard            smallint    not null,
  id               bigint      not null,
  url              text        not null,
  -- Event types; null means all.
  types            text[],
  description      text,
  enabled          boolean     not null,
  -- Why the service disabled it; null if it did not.
  disabled_reason  text        check (disabled_reason in ('failing', 'gone')),
  -- Since when every attempt has failed; null after a success.
  failing_since    timestamptz,
  secret           bytea       not null,
  -- The secret before a rotation signs beside the new one until then.
  previous_secret  bytea,
  previous_until   timestamptz,
  created_at       timestamptz not null,
  created_by       text        not null,
  updated_at       timestamptz not null,
  updated_by       text        not null,
  primary key (shard, id),
  check (id % 64 = shard),
  check (not enabled or disabled_reason is null),
  check ((previous_secret is null) = (previous_until is null)),
  check (cardinality(types) > 0)
);

-- Up to where the outbox was fanned out into deliveries of the webhook: a number for each shard, shard 0 at index 1. It
-- moves in the transaction that writes the deliveries, and has a row of its own because fan-out locks it.
create table webhook_cursor (
  shard      smallint not null,
  webhook_id bigint   not null,
  positions  bigint[] not null check (cardinality(positions) = 64),
  primary key (shard, webhook_id),
  foreign key (shard, webhook_id) references webhook (shard, id) on delete cascade
) with (fillfactor = 10);

-- One row per event and webhook that takes it. The dispatcher writes it, and removes ended rows older than 35 days.
create table webhook_delivery (
  shard           smallint    not null,
  webhook_id      bigint      not null,
  -- The key of the event.
  event_shard     smallint    not null,
  number          bigint      not null,
  status          text        not null check (status in ('pending', 'delivered', 'failed')),
  -- Attempts ever begun; also proves which process owns the current attempt.
  attempts        integer     not null default 0,
  -- Failed attempts of the current series, and when the series began; a redelivery begins another.
  failures        integer     not null default 0,
  began_at        timestamptz,
  -- When the next attempt is due. While an attempt is under way: when it counts as lost.
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  response_code   smallint,
  error           text,
  created_at      timestamptz not null,
  primary key (shard, webhook_id, event_shard, number),
  foreign key (shard, webhook_id) references webhook (shard, id) on delete cascade,
  check ((status = 'pending') = (next_attempt_at is not null))
) with (fillfactor = 70);
create index webhook_delivery_due on webhook_delivery (shard, webhook_id, next_attempt_at) where status = 'pending';
create index webhook_delivery_list on webhook_delivery (shard, webhook_id, created_at, event_shard, number);
