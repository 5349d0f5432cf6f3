-- The ledger: one row per message or campaign, and what retention has folded of it. A quota's counters equal the sums
-- over its reservations.
create table reservation (
  shard         smallint    not null,
  user_id       bigint      not null check (user_id >= 0),
  -- The sender's own. By bytes: an upgrade of the system's collations must not break a unique index.
  id            text        collate "C" not null,
  seq           integer     not null default 0,
  op            text        not null check (op in ('reserve', 'consume')),
  asked         bigint      not null check (asked >= 1),
  country       text,
  message_type  text,
  allow_partial boolean     not null,
  force         boolean     not null,
  units         bigint      not null check (units >= 1),
  committed     bigint      not null check (committed >= 0),
  released      bigint      not null check (released >= 0),
  refunded      bigint      not null check (refunded >= 0),
  on_expiry     text        not null check (on_expiry in ('release', 'commit')),
  expired       boolean     not null,
  -- Six numbers a draw: quota, kind (0 grant, 1 cap), window's number, window's start (ms), from, to.
  draws         bigint[]    not null check (cardinality(draws) % 6 = 0),
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  changed_at    timestamptz not null,
  primary key (shard, user_id, id),
  check (committed + released <= units),
  check (refunded <= committed)
) with (fillfactor = 50);
-- Shared by the sweeper, which looks for what is due, and retention, which looks for what is old. Not partial: leaving
-- a partial index when a reservation settles would keep updates from being heap-only.
create index reservation_expiry on reservation (shard, expires_at);

-- What retention has removed, per window of a quota.
create table archive (
  shard     smallint not null,
  quota_id  bigint   not null,
  window_no bigint   not null,
  used      bigint   not null check (used >= 0),
  primary key (shard, quota_id, window_no)
) with (fillfactor = 80);
