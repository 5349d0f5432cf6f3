-- Quotas, their owners' accounts, what administrators did, and the outbox.
--
-- Every table of a user's data starts its key with `shard` (64 buckets of the user, src/domain/shard.ts), so that it
-- can be distributed over a cluster unchanged. No triggers, no procedures, no default that depends on the clock:
-- times come in as parameters. CHECK constraints repeat what the domain promises.

-- Quota ids are nextval × 64 + shard.
create sequence quota_number as bigint;

-- One row per user that ever had a quota: the lock on which administrators' changes and the engine meet.
-- `live` is the number of undeleted, unexpired quotas as counted at the last administrator's change.
create table account (
  shard   smallint not null,
  user_id bigint   not null check (user_id >= 0),
  live    integer  not null default 0 check (live between 0 and 200),
  primary key (shard, user_id)
) with (fillfactor = 90);

-- One row is the definition of a quota and the counters of the window it stands in: the hot path reads, locks and
-- writes one place. No index holds a counter or `seq`, so that counter updates stay heap-only.
create table quota (
  shard           smallint    not null,
  id              bigint      not null,
  user_id         bigint      not null,
  -- Grows with every write to the row, an administrator's write to any quota of the user included.
  seq             bigint      not null default 0,
  -- Grows with every administrator's change that changes something; what the ETag shows.
  version         bigint      not null default 1 check (version >= 1),

  kind            text        not null check (kind in ('grant', 'cap')),
  name            text,
  "limit"         bigint      check ("limit" between 0 and 1000000000000),
  period          text        check (period in ('hour', 'day', 'week', 'month', 'year')),
  time_zone       text        not null,
  rollover_limit  bigint      not null check (rollover_limit between 0 and 1000000000000),
  overage_limit   bigint      not null check (overage_limit between 0 and 1000000000000),
  priority        smallint    not null check (priority between 0 and 255),
  starts_at       timestamptz not null,
  expires_at      timestamptz,
  countries       text[],
  message_types   text[],
  alert_at        smallint[]  not null,
  enabled         boolean     not null,
  external_ref    text        collate "C",
  metadata        jsonb       not null,

  -- The window the row stands in. `window_end` is the calendar's next boundary, fixed when the window opened; null
  -- for a quota of a single window.
  window_no       bigint      not null default 0 check (window_no >= 0),
  window_start    timestamptz not null,
  window_end      timestamptz,
  used            bigint      not null default 0 check (used >= 0),
  reserved        bigint      not null default 0 check (reserved >= 0),
  rolled_over     bigint      not null default 0 check (rolled_over >= 0),

  created_at      timestamptz not null,
  created_by      text        not null,
  updated_at      timestamptz not null,
  updated_by      text        not null,
  deleted_at      timestamptz,

  primary key (shard, id),
  foreign key (shard, user_id) references account (shard, user_id),
  check (id % 64 = shard),
  check (kind = 'grant' or ("limit" is not null and rollover_limit = 0 and overage_limit = 0)),
  check (rollover_limit = 0 or ("limit" is not null and period is not null)),
  check (overage_limit = 0 or "limit" is not null),
  check (expires_at > starts_at),
  check (window_end > window_start),
  check ((period is null) = (window_end is null)),
  check (cardinality(countries) > 0 and cardinality(message_types) > 0)
) with (fillfactor = 70);

-- Each list and summary has an index to walk (docs/plans.md). Deleted quotas stay for ever, so nobody who does not ask
-- for them passes over them: their entries are in indexes of their own.
create index quota_of_user on quota (shard, user_id, id) where deleted_at is null;
create index quota_deleted_of_user on quota (shard, user_id, id) where deleted_at is not null;
create unique index quota_external_ref on quota (shard, user_id, external_ref)
  where external_ref is not null and deleted_at is null;
-- Lists over all users, in the two orders they can be asked for. 'infinity' stands for "never expires"; `expires_at`
-- comes along because an expression alone never makes an index-only scan, by which the expired are counted.
create index quota_list_by_id on quota (id) where deleted_at is null;
create index quota_list_by_expiry on quota ((coalesce(expires_at, 'infinity'::timestamptz)), id) include (expires_at)
  where deleted_at is null;
create index quota_list_deleted_by_id on quota (id) where deleted_at is not null;
create index quota_list_deleted_by_expiry on quota ((coalesce(expires_at, 'infinity'::timestamptz)), id)
  where deleted_at is not null;
-- What a list over all users can be filtered by, where it is rare: finding a few among all would take a scan of all.
create index quota_list_caps on quota (id) where kind = 'cap' and deleted_at is null;
create index quota_list_suspended on quota (id) where not enabled and deleted_at is null;
create index quota_list_by_start on quota (starts_at) where deleted_at is null;

-- The windows a quota has left behind. Idle windows leave no row: `window_no` skips them.
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
  -- What the window carried into the next, computed once, when it closed.
  carried       bigint      not null check (carried >= 0),
  primary key (shard, quota_id, window_no)
) with (fillfactor = 80);

-- Who changed which quota, when, from what to what; written in the transaction of the change.
create table quota_change (
  shard      smallint    not null,
  quota_id   bigint      not null,
  version    bigint      not null,
  action     text        not null check (action in ('created', 'updated', 'deleted')),
  at         timestamptz not null,
  actor      text        not null,
  request_id text        not null,
  before     jsonb,
  after      jsonb,
  primary key (shard, quota_id, version)
);

-- The outbox. Numbers come from `shard_head`, taken in the last statements before COMMIT, so that the order of
-- numbers is the order of commits and a reader that has seen n never finds anything new before n.
create table event (
  shard    smallint    not null,
  number   bigint      not null,
  user_id  bigint      not null,
  -- Counts the user's own events, from 1.
  sequence bigint      not null,
  type     text        not null,
  at       timestamptz not null,
  data     jsonb       not null,
  primary key (shard, number)
);
create unique index event_of_user on event (shard, user_id, sequence);

-- One row per shard, written last in a transaction: the head of the outbox, and how many quotas the shard holds, so
-- that a list's total needs no count over all of them.
create table shard_head (
  shard          smallint primary key,
  last_event     bigint   not null default 0,
  grants         bigint   not null default 0 check (grants >= 0),
  caps           bigint   not null default 0 check (caps >= 0),
  deleted_grants bigint   not null default 0 check (deleted_grants >= 0),
  deleted_caps   bigint   not null default 0 check (deleted_caps >= 0)
) with (fillfactor = 10);
insert into shard_head (shard) select generate_series(0, 63);

-- Answers to creations that carried an Idempotency-Key, kept for a day at least. `shard` is a bucket of the key, not
-- of the user: the same key with another user's body must be found too. `answer` is the quota as it was created.
create table idempotency (
  shard        smallint    not null,
  principal    text        not null,
  key          text        collate "C" not null,
  request      jsonb       not null,
  created_at   timestamptz not null,
  answer       jsonb       not null,
  primary key (shard, principal, key)
);
create index idempotency_age on idempotency (shard, created_at);
