-- serves: 0.1.0
-- Caps that count each recipient, country or tag by itself, and caps that count messages
-- (docs/decisions/interface.md#caps-that-count-each-value-by-itself).

-- What the limit holds for: each 'recipient', 'country' or 'tag' by itself. Null: all together.
alter table quota add column per text;
-- 'units' or 'messages'.
alter table quota add column counts text not null default 'units';

-- Such a quota is stored as 'per_hour', or 'messages_month' ('messages_once' without a period): a version that does not know the columns
-- must not count it as another one. `not valid`: every stored value is one of those that were allowed before.
alter domain quota_period drop constraint quota_period_check;
alter domain quota_period add constraint quota_period_check
  check (value in ('hour', 'day', 'week', 'month', 'year', 'anchored_month', 'anchored_year',
    'per_minute', 'per_hour', 'per_day', 'per_week', 'per_month', 'per_year',
    'messages_once', 'messages_hour', 'messages_day', 'messages_week', 'messages_month', 'messages_year')) not valid;

-- How many messages the units pay; null: one. The hashes that the draws on such caps name, in the order of these draws.
alter table reservation
  add column messages  int,
  add column draw_keys bigint[];

-- What such a cap has counted of one value in one window. A row that is missing is 0. Rows go within an hour after their window.
create table value_counter (
  shard        smallint    not null,
  quota_id     bigint      not null,
  -- 63 bits of a keyed hash: the value itself is stored nowhere.
  value_key    bigint      not null,
  window_start timestamptz not null,
  window_end   timestamptz not null,
  used         bigint      not null,
  reserved     bigint      not null,
  -- Of `used`, what reservations counted that are not stored any more.
  archived     bigint      not null default 0,
  seq          bigint      not null,
  primary key (shard, quota_id, value_key, window_start)
);
create index value_counter_by_end on value_counter (shard, window_end);

-- Keys of the service's own, encrypted with SECRETS_KEY. All lie in shard 0.
create table service_key (
  shard smallint not null,
  name  text     not null,
  key   bytea    not null,
  primary key (shard, name)
);
