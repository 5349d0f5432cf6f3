-- Usage: what users sent, and what they were denied, by quarter of an hour. It outlives the reservations it came from.

-- A row is a quarter of an hour (UTC) of a user, by who paid and where to. Quarters, because every time zone of today is
-- a multiple of them away from UTC: a day or an hour of any zone is a sum of rows.
create table usage (
  shard              smallint    not null,
  user_id            bigint      not null,
  bucket             timestamptz not null,
  -- The grant that paid; null: none did, or it was denied.
  quota_id           bigint,
  country            text        collate "C",
  message_type       text        collate "C",
  -- Units, and messages beside them, as of the moment at which each happened.
  committed          bigint      not null check (committed >= 0),
  committed_messages bigint      not null check (committed_messages >= 0),
  refunded           bigint      not null check (refunded >= 0),
  refunded_messages  bigint      not null check (refunded_messages >= 0),
  denied             bigint      not null check (denied >= 0),
  denied_messages    bigint      not null check (denied_messages >= 0),
  unique nulls not distinct (shard, user_id, bucket, quota_id, country, message_type)
) with (fillfactor = 80);
-- For all users over a period.
create index usage_by_time on usage (bucket);

-- What batches wrote and nobody has folded into `usage` yet: a row per batch, whose arrays are of one length. A batch
-- would pay several times as much for rows of its own in `usage`. Readers add both.
create sequence usage_number as bigint;
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
  -- Rows live for seconds: what they leave is to be cleared away by their number, not by the size of the table.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20000
);
